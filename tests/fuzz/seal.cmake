# messages between ranks, as outsiders may send them
set(service ${CMAKE_SOURCE_DIR}/transports/service)
set(base ${CMAKE_SOURCE_DIR}/src/base)
keel_fuzz_single(seal 40000 OPTIONS -I${CMAKE_SOURCE_DIR}/transports -Wl,--no-as-needed -lsodium
                 SOURCES ${CMAKE_CURRENT_SOURCE_DIR}/fuzz_seal.c ${service}/service_seal.c ${service}/service_message.c ${base}/auth.c
                         ${base}/message.c)

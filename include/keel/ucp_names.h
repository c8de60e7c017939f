/* UCP's names for the types, constants and calls of ucp.h, which includes this header if
 * KEEL_UCP_NAMES is defined. */
#ifndef KEEL_UCP_NAMES_H_
#define KEEL_UCP_NAMES_H_

#define ucs_status_ptr_t               keel_ucs_status_ptr_t
#define ucs_status_string              keel_ucs_status_string
#define ucs_status_t                   keel_ucs_status_t
#define UCS_ERR_CANCELED               KEEL_UCS_ERR_CANCELED
#define UCS_ERR_CONNECTION_RESET       KEEL_UCS_ERR_CONNECTION_RESET
#define UCS_ERR_EXCEEDS_LIMIT          KEEL_UCS_ERR_EXCEEDS_LIMIT
#define UCS_ERR_INVALID_ADDR           KEEL_UCS_ERR_INVALID_ADDR
#define UCS_ERR_INVALID_PARAM          KEEL_UCS_ERR_INVALID_PARAM
#define UCS_ERR_IO_ERROR               KEEL_UCS_ERR_IO_ERROR
#define UCS_ERR_LAST                   KEEL_UCS_ERR_LAST
#define UCS_ERR_MESSAGE_TRUNCATED      KEEL_UCS_ERR_MESSAGE_TRUNCATED
#define UCS_ERR_NOT_CONNECTED          KEEL_UCS_ERR_NOT_CONNECTED
#define UCS_ERR_NO_MEMORY              KEEL_UCS_ERR_NO_MEMORY
#define UCS_ERR_NO_RESOURCE            KEEL_UCS_ERR_NO_RESOURCE
#define UCS_ERR_OUT_OF_RANGE           KEEL_UCS_ERR_OUT_OF_RANGE
#define UCS_ERR_REJECTED               KEEL_UCS_ERR_REJECTED
#define UCS_ERR_UNREACHABLE            KEEL_UCS_ERR_UNREACHABLE
#define UCS_ERR_UNSUPPORTED            KEEL_UCS_ERR_UNSUPPORTED
#define UCS_INPROGRESS                 KEEL_UCS_INPROGRESS
#define UCS_OK                         KEEL_UCS_OK
#define UCS_PTR_IS_ERR                 KEEL_UCS_PTR_IS_ERR
#define UCS_PTR_IS_PTR                 KEEL_UCS_PTR_IS_PTR
#define UCS_PTR_RAW_STATUS             KEEL_UCS_PTR_RAW_STATUS
#define UCS_PTR_STATUS                 KEEL_UCS_PTR_STATUS
#define UCS_STATUS_IS_ERR              KEEL_UCS_STATUS_IS_ERR
#define UCS_STATUS_PTR                 KEEL_UCS_STATUS_PTR
#define ucp_atomic_op_nbx              keel_ucp_atomic_op_nbx
#define ucp_atomic_op_t                keel_ucp_atomic_op_t
#define ucp_datatype_t                 keel_ucp_datatype_t
#define ucp_dt_make_contig             keel_ucp_dt_make_contig
#define ucp_ep_close_nbx               keel_ucp_ep_close_nbx
#define ucp_ep_destroy                 keel_ucp_ep_destroy
#define ucp_ep_flush_nbx               keel_ucp_ep_flush_nbx
#define ucp_ep_h                       keel_ucp_ep_h
#define ucp_get_nbi                    keel_ucp_get_nbi
#define ucp_get_nbx                    keel_ucp_get_nbx
#define ucp_put_nbi                    keel_ucp_put_nbi
#define ucp_put_nbx                    keel_ucp_put_nbx
#define ucp_request_check_status       keel_ucp_request_check_status
#define ucp_request_free               keel_ucp_request_free
#define ucp_request_param_t            keel_ucp_request_param_t
#define ucp_rkey_destroy               keel_ucp_rkey_destroy
#define ucp_rkey_h                     keel_ucp_rkey_h
#define ucp_send_nbx_callback_t        keel_ucp_send_nbx_callback_t
#define ucp_worker_fence               keel_ucp_worker_fence
#define ucp_worker_flush_nbx           keel_ucp_worker_flush_nbx
#define ucp_worker_h                   keel_ucp_worker_h
#define ucp_worker_progress            keel_ucp_worker_progress
#define UCP_ATOMIC_OP_ADD              KEEL_UCP_ATOMIC_OP_ADD
#define UCP_ATOMIC_OP_AND              KEEL_UCP_ATOMIC_OP_AND
#define UCP_ATOMIC_OP_CSWAP            KEEL_UCP_ATOMIC_OP_CSWAP
#define UCP_ATOMIC_OP_LAST             KEEL_UCP_ATOMIC_OP_LAST
#define UCP_ATOMIC_OP_OR               KEEL_UCP_ATOMIC_OP_OR
#define UCP_ATOMIC_OP_SWAP             KEEL_UCP_ATOMIC_OP_SWAP
#define UCP_ATOMIC_OP_XOR              KEEL_UCP_ATOMIC_OP_XOR
#define UCP_OP_ATTR_FIELD_CALLBACK     KEEL_UCP_OP_ATTR_FIELD_CALLBACK
#define UCP_OP_ATTR_FIELD_DATATYPE     KEEL_UCP_OP_ATTR_FIELD_DATATYPE
#define UCP_OP_ATTR_FIELD_REPLY_BUFFER KEEL_UCP_OP_ATTR_FIELD_REPLY_BUFFER
#define UCP_OP_ATTR_FIELD_USER_DATA    KEEL_UCP_OP_ATTR_FIELD_USER_DATA
#define UCP_OP_ATTR_FLAG_FAST_CMPL     KEEL_UCP_OP_ATTR_FLAG_FAST_CMPL
#define UCP_OP_ATTR_FLAG_MULTI_SEND    KEEL_UCP_OP_ATTR_FLAG_MULTI_SEND

/* of ucp_old.h */
#define ucp_atomic_fetch_nb       keel_ucp_atomic_fetch_nb
#define ucp_atomic_fetch_op_t     keel_ucp_atomic_fetch_op_t
#define ucp_atomic_post           keel_ucp_atomic_post
#define ucp_atomic_post_op_t      keel_ucp_atomic_post_op_t
#define ucp_ep_flush              keel_ucp_ep_flush
#define ucp_ep_flush_nb           keel_ucp_ep_flush_nb
#define ucp_get                   keel_ucp_get
#define ucp_get_nb                keel_ucp_get_nb
#define ucp_put                   keel_ucp_put
#define ucp_put_nb                keel_ucp_put_nb
#define ucp_request_release       keel_ucp_request_release
#define ucp_rkey_ptr              keel_ucp_rkey_ptr
#define ucp_send_callback_t       keel_ucp_send_callback_t
#define ucp_worker_flush          keel_ucp_worker_flush
#define ucp_worker_flush_nb       keel_ucp_worker_flush_nb
#define UCP_ATOMIC_FETCH_OP_CSWAP KEEL_UCP_ATOMIC_FETCH_OP_CSWAP
#define UCP_ATOMIC_FETCH_OP_FADD  KEEL_UCP_ATOMIC_FETCH_OP_FADD
#define UCP_ATOMIC_FETCH_OP_FAND  KEEL_UCP_ATOMIC_FETCH_OP_FAND
#define UCP_ATOMIC_FETCH_OP_FOR   KEEL_UCP_ATOMIC_FETCH_OP_FOR
#define UCP_ATOMIC_FETCH_OP_FXOR  KEEL_UCP_ATOMIC_FETCH_OP_FXOR
#define UCP_ATOMIC_FETCH_OP_LAST  KEEL_UCP_ATOMIC_FETCH_OP_LAST
#define UCP_ATOMIC_FETCH_OP_SWAP  KEEL_UCP_ATOMIC_FETCH_OP_SWAP
#define UCP_ATOMIC_POST_OP_ADD    KEEL_UCP_ATOMIC_POST_OP_ADD
#define UCP_ATOMIC_POST_OP_AND    KEEL_UCP_ATOMIC_POST_OP_AND
#define UCP_ATOMIC_POST_OP_LAST   KEEL_UCP_ATOMIC_POST_OP_LAST
#define UCP_ATOMIC_POST_OP_OR     KEEL_UCP_ATOMIC_POST_OP_OR
#define UCP_ATOMIC_POST_OP_XOR    KEEL_UCP_ATOMIC_POST_OP_XOR

#endif

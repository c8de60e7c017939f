/*
 * Every function declared in mpi.h or exported by Open MPI 4.1 and 5.0 and MPICH 4.0 and 4.2,
 * extensions (MPIX_) included, in one list per treatment. A test finds functions missing from the
 * lists. A function on a communicator, window, group, request or file that the adapter does not
 * implement is refused, since the system's MPI, a job of one, would act on this process alone.
 */
#ifndef KEEL_MPI_FUNCTIONS_H_
#define KEEL_MPI_FUNCTIONS_H_

/* clang-format off */
/* implemented here */
#define KEEL_MPI_COVERED(_) \
    _(MPI_Abort) _(MPI_Accumulate) _(MPI_Allgather) _(MPI_Allgatherv) _(MPI_Alloc_mem) _(MPI_Allreduce) \
    _(MPI_Alltoall) _(MPI_Alltoallv) _(MPI_Alltoallw) _(MPI_Attr_delete) _(MPI_Attr_get) _(MPI_Attr_put) _(MPI_Barrier) _(MPI_Bcast) _(MPI_Bsend) _(MPI_Bsend_init) \
    _(MPI_Cancel) _(MPI_Cart_coords) _(MPI_Cart_create) _(MPI_Cart_get) _(MPI_Cart_map) _(MPI_Cart_rank) \
    _(MPI_Cart_shift) _(MPI_Cart_sub) _(MPI_Cartdim_get) _(MPI_Comm_call_errhandler) _(MPI_Comm_compare) \
    _(MPI_Comm_create) _(MPI_Comm_create_errhandler) _(MPI_Comm_create_group) _(MPI_Comm_delete_attr) _(MPI_Comm_disconnect) _(MPI_Comm_dup) \
    _(MPI_Comm_dup_with_info) _(MPI_Comm_free) _(MPI_Comm_get_attr) _(MPI_Comm_get_errhandler) _(MPI_Comm_get_parent) _(MPI_Comm_group) \
    _(MPI_Comm_idup) _(MPI_Comm_idup_with_info) _(MPI_Comm_rank) _(MPI_Comm_remote_group) _(MPI_Comm_remote_size) \
    _(MPI_Comm_set_attr) _(MPI_Comm_set_errhandler) _(MPI_Comm_size) _(MPI_Comm_split) _(MPI_Comm_split_type) _(MPI_Comm_test_inter) \
    _(MPI_Compare_and_swap) _(MPI_Dist_graph_create) _(MPI_Dist_graph_create_adjacent) _(MPI_Dist_graph_neighbors) \
    _(MPI_Dist_graph_neighbors_count) _(MPI_Errhandler_free) _(MPI_Exscan) _(MPI_Fetch_and_op) _(MPI_File_open) _(MPI_File_close) _(MPI_File_get_amode) _(MPI_File_set_view) _(MPI_File_delete) _(MPI_File_get_group) _(MPI_File_set_size) _(MPI_File_preallocate) _(MPI_File_seek_shared) _(MPI_File_get_position_shared) _(MPI_File_read_shared) _(MPI_File_write_shared) _(MPI_File_iread_shared) _(MPI_File_iwrite_shared) _(MPI_File_read_ordered) _(MPI_File_write_ordered) _(MPI_File_read_ordered_begin) _(MPI_File_write_ordered_begin) _(MPI_File_read_ordered_end) _(MPI_File_write_ordered_end) \
    _(MPI_Finalize) _(MPI_Finalized) _(MPI_Free_mem) _(MPI_Gather) _(MPI_Gatherv) _(MPI_Get) _(MPI_Get_accumulate) \
    _(MPI_Graph_create) _(MPI_Graph_get) _(MPI_Graph_map) _(MPI_Graph_neighbors) _(MPI_Graph_neighbors_count) \
    _(MPI_Graphdims_get) _(MPI_Group_compare) _(MPI_Group_difference) _(MPI_Group_excl) _(MPI_Group_free) \
    _(MPI_Group_incl) _(MPI_Group_intersection) _(MPI_Group_range_excl) _(MPI_Group_range_incl) _(MPI_Group_rank) \
    _(MPI_Group_size) _(MPI_Group_translate_ranks) _(MPI_Group_union) _(MPI_Iallgather) _(MPI_Iallgatherv) \
    _(MPI_Iallreduce) _(MPI_Ialltoall) _(MPI_Ialltoallv) _(MPI_Ialltoallw) _(MPI_Ibarrier) _(MPI_Ibcast) \
    _(MPI_Ibsend) _(MPI_Iexscan) _(MPI_Igather) _(MPI_Igatherv) _(MPI_Improbe) _(MPI_Imrecv) \
    _(MPI_Ineighbor_allgather) _(MPI_Ineighbor_allgatherv) _(MPI_Ineighbor_alltoall) _(MPI_Ineighbor_alltoallv) \
    _(MPI_Ineighbor_alltoallw) _(MPI_Info_create) _(MPI_Info_dup) _(MPI_Info_free) _(MPI_Init) _(MPI_Init_thread) \
    _(MPI_Initialized) _(MPI_Intercomm_create) _(MPI_Intercomm_merge) _(MPI_Iprobe) _(MPI_Irecv) _(MPI_Ireduce) \
    _(MPI_Ireduce_scatter) _(MPI_Ireduce_scatter_block) _(MPI_Irsend) _(MPI_Iscan) _(MPI_Iscatter) _(MPI_Iscatterv) \
    _(MPI_Isend) _(MPI_Issend) _(MPI_Message_c2f) _(MPI_Message_f2c) _(MPI_Mprobe) _(MPI_Mrecv) \
    _(MPI_Neighbor_allgather) _(MPI_Neighbor_allgatherv) _(MPI_Neighbor_alltoall) _(MPI_Neighbor_alltoallv) \
    _(MPI_Neighbor_alltoallw) _(MPI_Op_create) _(MPI_Op_free) _(MPI_Probe) _(MPI_Put) _(MPI_Raccumulate) _(MPI_Recv) \
    _(MPI_Recv_init) _(MPI_Reduce) _(MPI_Reduce_scatter) _(MPI_Reduce_scatter_block) _(MPI_Request_free) \
    _(MPI_Request_get_status) _(MPI_Rget) _(MPI_Rget_accumulate) _(MPI_Rput) _(MPI_Rsend) _(MPI_Rsend_init) \
    _(MPI_Scan) _(MPI_Scatter) _(MPI_Scatterv) _(MPI_Send) _(MPI_Send_init) _(MPI_Sendrecv) _(MPI_Sendrecv_replace) \
    _(MPI_Ssend) _(MPI_Ssend_init) _(MPI_Start) _(MPI_Startall) _(MPI_Test) _(MPI_Testall) _(MPI_Testany) \
    _(MPI_Testsome) _(MPI_Topo_test) _(MPI_Type_commit) _(MPI_Type_dup) _(MPI_Type_free) _(MPI_Wait) _(MPI_Waitall) \
    _(MPI_Waitany) _(MPI_Waitsome) _(MPI_Win_allocate) _(MPI_Win_allocate_shared) _(MPI_Win_attach) \
    _(MPI_Win_call_errhandler) _(MPI_Win_complete) _(MPI_Win_create) _(MPI_Win_create_dynamic) \
    _(MPI_Win_create_errhandler) _(MPI_Win_detach) _(MPI_Win_fence) _(MPI_Win_flush) _(MPI_Win_flush_all) \
    _(MPI_Win_flush_local) _(MPI_Win_flush_local_all) _(MPI_Win_free) _(MPI_Win_get_attr) _(MPI_Win_get_errhandler) \
    _(MPI_Win_get_group) _(MPI_Win_lock) _(MPI_Win_lock_all) _(MPI_Win_post) _(MPI_Win_set_errhandler) \
    _(MPI_Win_shared_query) _(MPI_Win_start) _(MPI_Win_sync) _(MPI_Win_test) _(MPI_Win_unlock) _(MPI_Win_unlock_all) \
    _(MPI_Win_wait)

/* done by the system's MPI on its handle; handles exist for these functions */
#define KEEL_MPI_NATIVE(_) \
    _(MPI_Comm_get_info) _(MPI_Comm_get_name) _(MPI_Comm_set_info) _(MPI_Comm_set_name) \
    _(MPI_Errhandler_get) _(MPI_Errhandler_set) _(MPI_Win_delete_attr) _(MPI_Win_get_info) _(MPI_Win_get_name) \
    _(MPI_Win_set_attr) _(MPI_Win_set_info) _(MPI_Win_set_name)

/* local to a process: done by the system's MPI; files are opened there on MPI_COMM_SELF */
#define KEEL_MPI_LOCAL(_) \
    _(MPI_Add_error_class) _(MPI_Add_error_code) _(MPI_Add_error_string) _(MPI_Address) _(MPI_Aint_add) \
    _(MPI_Aint_diff) _(MPI_Buffer_attach) _(MPI_Buffer_attach_c) _(MPI_Buffer_detach) _(MPI_Buffer_detach_c) \
    _(MPI_Comm_c2f) _(MPI_Comm_create_keyval) _(MPI_Comm_f2c) _(MPI_Comm_free_keyval) _(MPI_Dims_create) \
    _(MPI_Errhandler_c2f) _(MPI_Errhandler_create) _(MPI_Errhandler_f2c) _(MPI_Error_class) _(MPI_Error_string) \
    _(MPI_File_c2f) _(MPI_File_call_errhandler) _(MPI_File_create_errhandler) \
    _(MPI_File_f2c) _(MPI_File_get_atomicity) _(MPI_File_get_byte_offset) \
    _(MPI_File_get_errhandler) _(MPI_File_get_info) _(MPI_File_get_position) _(MPI_File_get_size) \
    _(MPI_File_get_type_extent) _(MPI_File_get_view) _(MPI_File_iread) _(MPI_File_iread_all) _(MPI_File_iread_at) \
    _(MPI_File_iread_at_all) _(MPI_File_iwrite) _(MPI_File_iwrite_all) _(MPI_File_iwrite_at) \
    _(MPI_File_iwrite_at_all) _(MPI_File_read) _(MPI_File_read_all) \
    _(MPI_File_read_all_begin) _(MPI_File_read_all_end) _(MPI_File_read_at) _(MPI_File_read_at_all) \
    _(MPI_File_read_at_all_begin) _(MPI_File_read_at_all_end) _(MPI_File_seek) _(MPI_File_set_atomicity) \
    _(MPI_File_set_errhandler) _(MPI_File_set_info) _(MPI_File_sync) \
    _(MPI_File_write) _(MPI_File_write_all) _(MPI_File_write_all_begin) _(MPI_File_write_all_end) \
    _(MPI_File_write_at) _(MPI_File_write_at_all) _(MPI_File_write_at_all_begin) _(MPI_File_write_at_all_end) \
    _(MPI_Get_address) _(MPI_Get_count) _(MPI_Get_count_c) _(MPI_Get_elements) _(MPI_Get_elements_c) \
    _(MPI_Get_elements_x) _(MPI_Get_library_version) _(MPI_Get_processor_name) _(MPI_Get_version) \
    _(MPI_Grequest_complete) _(MPI_Grequest_start) _(MPI_Group_c2f) _(MPI_Group_f2c) _(MPI_Info_c2f) \
    _(MPI_Info_create_env) _(MPI_Info_delete) _(MPI_Info_f2c) _(MPI_Info_get) _(MPI_Info_get_nkeys) \
    _(MPI_Info_get_nthkey) _(MPI_Info_get_string) _(MPI_Info_get_valuelen) _(MPI_Info_set) _(MPI_Is_thread_main) \
    _(MPI_Keyval_create) _(MPI_Keyval_free) _(MPI_Op_c2f) _(MPI_Op_commutative) _(MPI_Op_create_c) _(MPI_Op_f2c) \
    _(MPI_Pack) _(MPI_Pack_c) _(MPI_Pack_external) _(MPI_Pack_external_c) _(MPI_Pack_external_size) \
    _(MPI_Pack_external_size_c) _(MPI_Pack_size) _(MPI_Pack_size_c) _(MPI_Pcontrol) _(MPI_Query_thread) \
    _(MPI_Reduce_local) _(MPI_Reduce_local_c) _(MPI_Register_datarep) _(MPI_Register_datarep_c) _(MPI_Request_c2f) \
    _(MPI_Request_f2c) _(MPI_Status_c2f) _(MPI_Status_c2f08) _(MPI_Status_f082c) _(MPI_Status_f082f) \
    _(MPI_Status_f2c) _(MPI_Status_f2f08) _(MPI_Status_set_cancelled) _(MPI_Status_set_elements) \
    _(MPI_Status_set_elements_x) _(MPI_T_category_changed) _(MPI_T_category_get_categories) \
    _(MPI_T_category_get_cvars) _(MPI_T_category_get_events) _(MPI_T_category_get_index) _(MPI_T_category_get_info) \
    _(MPI_T_category_get_num) _(MPI_T_category_get_num_events) _(MPI_T_category_get_pvars) _(MPI_T_cvar_get_index) \
    _(MPI_T_cvar_get_info) _(MPI_T_cvar_get_num) _(MPI_T_cvar_handle_alloc) _(MPI_T_cvar_handle_free) \
    _(MPI_T_cvar_read) _(MPI_T_cvar_write) _(MPI_T_enum_get_info) _(MPI_T_enum_get_item) \
    _(MPI_T_event_callback_get_info) _(MPI_T_event_callback_set_info) _(MPI_T_event_copy) _(MPI_T_event_get_index) \
    _(MPI_T_event_get_info) _(MPI_T_event_get_num) _(MPI_T_event_get_source) _(MPI_T_event_get_timestamp) \
    _(MPI_T_event_handle_alloc) _(MPI_T_event_handle_free) _(MPI_T_event_handle_get_info) \
    _(MPI_T_event_handle_set_info) _(MPI_T_event_read) _(MPI_T_event_register_callback) \
    _(MPI_T_event_set_dropped_handler) _(MPI_T_finalize) _(MPI_T_init_thread) _(MPI_T_pvar_get_index) \
    _(MPI_T_pvar_get_info) _(MPI_T_pvar_get_num) _(MPI_T_pvar_handle_alloc) _(MPI_T_pvar_handle_free) \
    _(MPI_T_pvar_read) _(MPI_T_pvar_readreset) _(MPI_T_pvar_reset) _(MPI_T_pvar_session_create) \
    _(MPI_T_pvar_session_free) _(MPI_T_pvar_start) _(MPI_T_pvar_stop) _(MPI_T_pvar_write) _(MPI_T_source_get_info) \
    _(MPI_T_source_get_num) _(MPI_T_source_get_timestamp) _(MPI_Test_cancelled) _(MPI_Type_c2f) \
    _(MPI_Type_contiguous) _(MPI_Type_contiguous_c) _(MPI_Type_create_darray) _(MPI_Type_create_darray_c) \
    _(MPI_Type_create_f90_complex) _(MPI_Type_create_f90_integer) _(MPI_Type_create_f90_real) \
    _(MPI_Type_create_hindexed) _(MPI_Type_create_hindexed_block) _(MPI_Type_create_hindexed_block_c) \
    _(MPI_Type_create_hindexed_c) _(MPI_Type_create_hvector) _(MPI_Type_create_hvector_c) \
    _(MPI_Type_create_indexed_block) _(MPI_Type_create_indexed_block_c) _(MPI_Type_create_keyval) \
    _(MPI_Type_create_resized) _(MPI_Type_create_resized_c) _(MPI_Type_create_struct) _(MPI_Type_create_struct_c) \
    _(MPI_Type_create_subarray) _(MPI_Type_create_subarray_c) _(MPI_Type_delete_attr) _(MPI_Type_extent) \
    _(MPI_Type_f2c) _(MPI_Type_free_keyval) _(MPI_Type_get_attr) _(MPI_Type_get_contents) _(MPI_Type_get_contents_c) \
    _(MPI_Type_get_envelope) _(MPI_Type_get_envelope_c) _(MPI_Type_get_extent) _(MPI_Type_get_extent_c) \
    _(MPI_Type_get_extent_x) _(MPI_Type_get_name) _(MPI_Type_get_true_extent) _(MPI_Type_get_true_extent_c) \
    _(MPI_Type_get_true_extent_x) _(MPI_Type_hindexed) _(MPI_Type_hvector) _(MPI_Type_indexed) _(MPI_Type_indexed_c) \
    _(MPI_Type_lb) _(MPI_Type_match_size) _(MPI_Type_set_attr) _(MPI_Type_set_name) _(MPI_Type_size) \
    _(MPI_Type_size_c) _(MPI_Type_size_x) _(MPI_Type_struct) _(MPI_Type_ub) _(MPI_Type_vector) _(MPI_Type_vector_c) \
    _(MPI_Unpack) _(MPI_Unpack_c) _(MPI_Unpack_external) _(MPI_Unpack_external_c) _(MPI_Win_c2f) \
    _(MPI_Win_create_keyval) _(MPI_Win_f2c) _(MPI_Win_free_keyval) _(MPI_Wtick) _(MPI_Wtime) \
    _(MPIX_Delete_error_class) _(MPIX_Delete_error_code) _(MPIX_Delete_error_string) _(MPIX_GPU_query_support) \
    _(MPIX_Query_cuda_support) _(MPIX_Query_hip_support) _(MPIX_Query_rocm_support) _(MPIX_Query_ze_support) \
    /* MPICH 4.2's own MPI-IO calls the first two */ \
    _(MPIX_Type_iov) _(MPIX_Type_iov_len) _(MPIX_Info_set_hex) _(MPI_Session_c2f) _(MPI_Session_f2c)

/* refused with an error that names the function */
#define KEEL_MPI_REFUSED(_) \
    _(MPI_Accumulate_c) _(MPI_Allgather_c) _(MPI_Allgather_init) _(MPI_Allgather_init_c) _(MPI_Allgatherv_c) \
    _(MPI_Allgatherv_init) _(MPI_Allgatherv_init_c) _(MPI_Allreduce_c) _(MPI_Allreduce_init) _(MPI_Allreduce_init_c) \
    _(MPI_Alltoall_c) _(MPI_Alltoall_init) _(MPI_Alltoall_init_c) _(MPI_Alltoallv_c) _(MPI_Alltoallv_init) \
    _(MPI_Alltoallv_init_c) _(MPI_Alltoallw_c) _(MPI_Alltoallw_init) _(MPI_Alltoallw_init_c) _(MPI_Barrier_init) \
    _(MPI_Bcast_c) _(MPI_Bcast_init) _(MPI_Bcast_init_c) _(MPI_Bsend_c) _(MPI_Bsend_init_c) _(MPI_Close_port) \
    _(MPI_Comm_accept) _(MPI_Comm_connect) _(MPI_Comm_create_from_group) _(MPI_Comm_join) _(MPI_Comm_spawn) \
    _(MPI_Comm_spawn_multiple) _(MPI_Exscan_c) _(MPI_Exscan_init) _(MPI_Exscan_init_c) \
    _(MPI_File_get_type_extent_c) _(MPI_File_iread_all_c) _(MPI_File_iread_at_all_c) \
    _(MPI_File_iread_at_c) _(MPI_File_iread_c) _(MPI_File_iread_shared_c) \
    _(MPI_File_iwrite_all_c) _(MPI_File_iwrite_at_all_c) _(MPI_File_iwrite_at_c) _(MPI_File_iwrite_c) \
    _(MPI_File_iwrite_shared_c) _(MPI_File_read_all_begin_c) _(MPI_File_read_all_c) \
    _(MPI_File_read_at_all_begin_c) _(MPI_File_read_at_all_c) _(MPI_File_read_at_c) _(MPI_File_read_c) \
    _(MPI_File_read_ordered_begin_c) \
    _(MPI_File_read_ordered_c) _(MPI_File_read_shared_c) \
    _(MPI_File_write_all_begin_c) _(MPI_File_write_all_c) _(MPI_File_write_at_all_begin_c) \
    _(MPI_File_write_at_all_c) _(MPI_File_write_at_c) _(MPI_File_write_c) \
    _(MPI_File_write_ordered_begin_c) _(MPI_File_write_ordered_c) \
    _(MPI_File_write_shared_c) _(MPI_Gather_c) \
    _(MPI_Gather_init) _(MPI_Gather_init_c) _(MPI_Gatherv_c) _(MPI_Gatherv_init) _(MPI_Gatherv_init_c) \
    _(MPI_Get_accumulate_c) _(MPI_Get_c) _(MPI_Group_from_session_pset) _(MPI_Iallgather_c) _(MPI_Iallgatherv_c) \
    _(MPI_Iallreduce_c) _(MPI_Ialltoall_c) _(MPI_Ialltoallv_c) _(MPI_Ialltoallw_c) _(MPI_Ibcast_c) _(MPI_Ibsend_c) \
    _(MPI_Iexscan_c) _(MPI_Igather_c) _(MPI_Igatherv_c) _(MPI_Imrecv_c) _(MPI_Ineighbor_allgather_c) \
    _(MPI_Ineighbor_allgatherv_c) _(MPI_Ineighbor_alltoall_c) _(MPI_Ineighbor_alltoallv_c) \
    _(MPI_Ineighbor_alltoallw_c) _(MPI_Intercomm_create_from_groups) _(MPI_Irecv_c) _(MPI_Ireduce_c) \
    _(MPI_Ireduce_scatter_block_c) _(MPI_Ireduce_scatter_c) _(MPI_Irsend_c) _(MPI_Iscan_c) _(MPI_Iscatter_c) \
    _(MPI_Iscatterv_c) _(MPI_Isend_c) _(MPI_Isendrecv) _(MPI_Isendrecv_c) _(MPI_Isendrecv_replace) \
    _(MPI_Isendrecv_replace_c) _(MPI_Issend_c) _(MPI_Lookup_name) _(MPI_Mrecv_c) _(MPI_Neighbor_allgather_c) \
    _(MPI_Neighbor_allgather_init) _(MPI_Neighbor_allgather_init_c) _(MPI_Neighbor_allgatherv_c) \
    _(MPI_Neighbor_allgatherv_init) _(MPI_Neighbor_allgatherv_init_c) _(MPI_Neighbor_alltoall_c) \
    _(MPI_Neighbor_alltoall_init) _(MPI_Neighbor_alltoall_init_c) _(MPI_Neighbor_alltoallv_c) \
    _(MPI_Neighbor_alltoallv_init) _(MPI_Neighbor_alltoallv_init_c) _(MPI_Neighbor_alltoallw_c) \
    _(MPI_Neighbor_alltoallw_init) _(MPI_Neighbor_alltoallw_init_c) _(MPI_Open_port) _(MPI_Parrived) _(MPI_Pready) \
    _(MPI_Pready_list) _(MPI_Pready_range) _(MPI_Precv_init) _(MPI_Psend_init) _(MPI_Publish_name) _(MPI_Put_c) \
    _(MPI_Raccumulate_c) _(MPI_Recv_c) _(MPI_Recv_init_c) _(MPI_Reduce_c) _(MPI_Reduce_init) _(MPI_Reduce_init_c) \
    _(MPI_Reduce_scatter_block_c) _(MPI_Reduce_scatter_block_init) _(MPI_Reduce_scatter_block_init_c) \
    _(MPI_Reduce_scatter_c) _(MPI_Reduce_scatter_init) _(MPI_Reduce_scatter_init_c) _(MPI_Rget_accumulate_c) \
    _(MPI_Rget_c) _(MPI_Rput_c) _(MPI_Rsend_c) _(MPI_Rsend_init_c) _(MPI_Scan_c) _(MPI_Scan_init) _(MPI_Scan_init_c) \
    _(MPI_Scatter_c) _(MPI_Scatter_init) _(MPI_Scatter_init_c) _(MPI_Scatterv_c) _(MPI_Scatterv_init) \
    _(MPI_Scatterv_init_c) _(MPI_Send_c) _(MPI_Send_init_c) _(MPI_Sendrecv_c) _(MPI_Sendrecv_replace_c) \
    _(MPI_Session_call_errhandler) _(MPI_Session_create_errhandler) _(MPI_Session_finalize) \
    _(MPI_Session_get_errhandler) _(MPI_Session_get_info) _(MPI_Session_get_nth_pset) _(MPI_Session_get_num_psets) \
    _(MPI_Session_get_pset_info) _(MPI_Session_init) _(MPI_Session_set_errhandler) _(MPI_Ssend_c) \
    _(MPI_Ssend_init_c) _(MPI_Unpublish_name) _(MPI_Win_allocate_c) _(MPI_Win_allocate_shared_c) _(MPI_Win_create_c) \
    _(MPI_Win_shared_query_c) \
    _(MPIX_Allgather_init) _(MPIX_Allgatherv_init) _(MPIX_Allreduce_init) _(MPIX_Alltoall_init) \
    _(MPIX_Alltoallv_init) _(MPIX_Alltoallw_init) _(MPIX_Barrier_init) _(MPIX_Bcast_init) _(MPIX_Comm_ack_failed) \
    _(MPIX_Comm_agree) _(MPIX_Comm_failure_ack) _(MPIX_Comm_failure_get_acked) _(MPIX_Comm_get_failed) \
    _(MPIX_Comm_iagree) _(MPIX_Comm_is_revoked) _(MPIX_Comm_revoke) _(MPIX_Comm_shrink) \
    _(MPIX_Exscan_init) _(MPIX_Gather_init) _(MPIX_Gatherv_init) _(MPIX_Grequest_class_allocate) \
    _(MPIX_Grequest_class_create) _(MPIX_Grequest_start) _(MPIX_Neighbor_allgather_init) \
    _(MPIX_Neighbor_allgatherv_init) _(MPIX_Neighbor_alltoall_init) _(MPIX_Neighbor_alltoallv_init) \
    _(MPIX_Neighbor_alltoallw_init) _(MPIX_Reduce_init) _(MPIX_Reduce_scatter_block_init) \
    _(MPIX_Reduce_scatter_init) _(MPIX_Scan_init) _(MPIX_Scatter_init) _(MPIX_Scatterv_init) \
    /* MPI 4.1, and MPICH 4.2 */ \
    _(MPIX_Allreduce_enqueue) _(MPIX_Allreduce_enqueue_c) _(MPIX_Comm_get_stream) _(MPIX_Comm_test_threadcomm) \
    _(MPIX_Irecv_enqueue) _(MPIX_Irecv_enqueue_c) _(MPIX_Isend_enqueue) _(MPIX_Isend_enqueue_c) \
    _(MPIX_Recv_enqueue) _(MPIX_Recv_enqueue_c) _(MPIX_Send_enqueue) _(MPIX_Send_enqueue_c) \
    _(MPIX_Start_progress_thread) _(MPIX_Stop_progress_thread) _(MPIX_Stream_comm_create) \
    _(MPIX_Stream_comm_create_multiplex) _(MPIX_Stream_create) _(MPIX_Stream_free) _(MPIX_Stream_irecv) \
    _(MPIX_Stream_irecv_c) _(MPIX_Stream_isend) _(MPIX_Stream_isend_c) _(MPIX_Stream_progress) _(MPIX_Stream_recv) \
    _(MPIX_Stream_recv_c) _(MPIX_Stream_send) _(MPIX_Stream_send_c) _(MPIX_Threadcomm_finish) \
    _(MPIX_Threadcomm_free) _(MPIX_Threadcomm_init) _(MPIX_Threadcomm_start) \
    _(MPIX_Wait_enqueue) _(MPIX_Waitall_enqueue) _(MPI_Buffer_flush) _(MPI_Buffer_iflush) _(MPI_Comm_attach_buffer) \
    _(MPI_Comm_attach_buffer_c) _(MPI_Comm_detach_buffer) _(MPI_Comm_detach_buffer_c) _(MPI_Comm_flush_buffer) \
    _(MPI_Comm_iflush_buffer) _(MPI_Get_hw_resource_info) _(MPI_Remove_error_class) _(MPI_Remove_error_code) \
    _(MPI_Remove_error_string) _(MPI_Request_get_status_all) _(MPI_Request_get_status_any) \
    _(MPI_Request_get_status_some) _(MPI_Session_attach_buffer) _(MPI_Session_attach_buffer_c) \
    _(MPI_Session_detach_buffer) _(MPI_Session_detach_buffer_c) _(MPI_Session_flush_buffer) \
    _(MPI_Session_iflush_buffer) _(MPI_Status_get_error) _(MPI_Status_get_source) _(MPI_Status_get_tag) \
    _(MPI_Status_set_elements_c) _(MPI_Status_set_error) _(MPI_Status_set_source) _(MPI_Status_set_tag) \
    _(MPI_Type_get_value_index)
/* clang-format on */

#endif

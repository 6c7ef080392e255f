/* handle_calls.h: a call of every function of lockstep.h that takes handles: its name, how many, and its arguments,
 * with H(i, KIND) where the i-th handle stands. What else they are given is right, or nothing: a call must not get to
 * it. */
#define HANDLE_CALLS(X)                                                                                               \
    X(lk_gpu_destroy, 1, H(0, gpu))                                                                                   \
    X(lk_gpu_properties, 1, H(0, gpu), OUT)                                                                           \
    X(lk_gpu_title, 1, H(0, gpu))                                                                                     \
    X(lk_gpu_arch, 1, H(0, gpu))                                                                                      \
    X(lk_gpu_synchronise, 1, H(0, gpu))                                                                               \
    X(lk_module_load, 1, H(0, gpu), "x", "x", 0, OUT)                                                                 \
    X(lk_module_link, 1, H(0, gpu), OUT, 0, OUT)                                                                      \
    X(lk_module_load_file, 1, H(0, gpu), "x", OUT)                                                                    \
    X(lk_module_compile, 1, H(0, gpu), "x", NULL, OUT)                                                                \
    X(lk_gpu_log, 1, H(0, gpu))                                                                                       \
    X(lk_module_note, 1, H(0, module))                                                                                \
    X(lk_module_compiler, 1, H(0, module))                                                                            \
    X(lk_module_arch, 1, H(0, module))                                                                                \
    X(lk_module_ptx, 1, H(0, module), OUT)                                                                            \
    X(lk_module_assemble, 1, H(0, module))                                                                            \
    X(lk_module_unload, 1, H(0, module))                                                                              \
    X(lk_module_kernel_count, 1, H(0, module))                                                                        \
    X(lk_module_kernel_at, 1, H(0, module), 0)                                                                        \
    X(lk_module_kernel, 1, H(0, module), "x")                                                                         \
    X(lk_module_symbol, 1, H(0, module), "x", OUT, OUT)                                                               \
    X(lk_kernel_name, 1, H(0, kernel))                                                                                \
    X(lk_kernel_plain, 1, H(0, kernel))                                                                               \
    X(lk_kernel_signature, 1, H(0, kernel))                                                                           \
    X(lk_kernel_file, 1, H(0, kernel))                                                                                \
    X(lk_kernel_param_count, 1, H(0, kernel))                                                                         \
    X(lk_kernel_param, 1, H(0, kernel), 0, OUT)                                                                       \
    X(lk_kernel_usage, 1, H(0, kernel), OUT)                                                                          \
    X(lk_kernel_occupancy, 1, H(0, kernel), 0, 0, OUT)                                                                \
    X(lk_record, 1, H(0, kernel), (&(lk_launch){ LAUNCH }), "x")                                                      \
    X(lk_kernel_undefined, 1, H(0, kernel), 0)                                                                        \
    X(lk_module_compile_source, 1, H(0, gpu), "x", "x", 0, NULL, OUT)                                                 \
    X(lk_module_load_image, 1, H(0, gpu), "x", "x", 0, OUT)                                                           \
    X(lk_memory_usage, 1, H(0, gpu), OUT)                                                                             \
    X(lk_memory_snapshot, 1, H(0, gpu), OUT, 0)                                                                       \
    X(lk_memory_iteration, 1, H(0, gpu), OUT)                                                                         \
    X(lk_memory_span, 1, H(0, gpu), 0, 0, 0, OUT)                                                                     \
    X(lk_array_create, 1, H(0, gpu), OUT, OUT)                                                                        \
    X(lk_array_destroy, 1, H(0, array))                                                                               \
    X(lk_array_write, 1, H(0, array), OUT, 0)                                                                         \
    X(lk_array_read, 1, H(0, array), OUT, 0)                                                                          \
    X(lk_texture_create, 1, H(0, gpu), (&(lk_texture){ TEXTURE }), OUT)                                               \
    X(lk_texture_destroy, 1, H(0, gpu), 0)                                                                            \
    X(lk_surface_create, 1, H(0, array), OUT)                                                                         \
    X(lk_surface_destroy, 1, H(0, gpu), 0)                                                                            \
    X(lk_time_at, 1, H(0, gpu), 0, OUT)                                                                               \
    X(lk_time_text, 1, H(0, gpu))                                                                                     \
    X(lk_memory_alloc, 1, H(0, gpu), 0, 0, "x", OUT)                                                                  \
    X(lk_memory_alloc_pitched, 1, H(0, gpu), 0, 0, 0, "x", OUT, OUT)                                                  \
    X(lk_memory_describe, 1, H(0, gpu), 0, "x", "x", 0)                                                               \
    X(lk_memory_free, 1, H(0, gpu), 0)                                                                                \
    X(lk_memory_write, 1, H(0, gpu), 0, OUT, 0)                                                                       \
    X(lk_memory_read, 1, H(0, gpu), 0, OUT, 0)                                                                        \
    X(lk_memory_output, 1, H(0, gpu), 0, 0)                                                                           \
    X(lk_memory_fill, 1, H(0, gpu), 0, 0, 0)                                                                          \
    X(lk_memory_live, 1, H(0, gpu))                                                                                   \
    X(lk_memory_peak, 1, H(0, gpu))                                                                                   \
    X(lk_memory_copy, 1, H(0, gpu), (&(lk_copy){ COPY }))                                                             \
    X(lk_memory_set, 1, H(0, gpu), (&(lk_fill){ FILL }))                                                              \
    X(lk_memory_write_async, 1, H(0, stream), 0, OUT, 0)                                                              \
    X(lk_memory_read_async, 1, H(0, stream), 0, OUT, 0)                                                               \
    X(lk_memory_copy_async, 1, H(0, stream), 0, 0, 0)                                                                 \
    X(lk_memory_fill_async, 1, H(0, stream), 0, 0, 0)                                                                 \
    X(lk_memory_alloc_async, 2, H(0, stream), 0, H(1, pool), "x", OUT)                                                \
    X(lk_memory_free_async, 1, H(0, stream), 0)                                                                       \
    X(lk_memory_host, 1, H(0, gpu), 0, OUT)                                                                           \
    X(lk_memory_touch, 1, H(0, gpu), 0, 0, 0)                                                                         \
    X(lk_memory_register, 1, H(0, gpu), OUT, 0, "x", OUT)                                                             \
    X(lk_memory_unregister, 1, H(0, gpu), OUT)                                                                        \
    X(lk_memory_at, 1, H(0, gpu), 0, OUT)                                                                             \
    X(lk_pool_create, 1, H(0, gpu), 0, OUT)                                                                           \
    X(lk_pool_create_of, 1, H(0, gpu), 0, 0, 0, OUT)                                                                  \
    X(lk_pool_access, 1, H(0, pool), 0)                                                                               \
    X(lk_pool_destroy, 1, H(0, pool))                                                                                 \
    X(lk_pool_trim, 1, H(0, pool), 0)                                                                                 \
    X(lk_pool_threshold, 1, H(0, pool), 0)                                                                            \
    X(lk_pool_default, 1, H(0, gpu))                                                                                  \
    X(lk_pool_current, 2, H(0, gpu), H(1, pool))                                                                      \
    X(lk_pool_usage, 1, H(0, pool), OUT, 0)                                                                           \
    X(lk_pool_has, 1, H(0, pool), 0)                                                                                  \
    X(lk_virtual_reserve, 1, H(0, gpu), 0, 0, "x", OUT)                                                               \
    X(lk_virtual_free, 1, H(0, gpu), 0, 0)                                                                            \
    X(lk_physical_create, 1, H(0, gpu), 0, OUT)                                                                       \
    X(lk_physical_release, 1, H(0, physical))                                                                         \
    X(lk_virtual_map, 2, H(0, gpu), 0, 0, H(1, physical))                                                             \
    X(lk_virtual_unmap, 1, H(0, gpu), 0, 0)                                                                           \
    X(lk_virtual_access, 1, H(0, gpu), 0, 0, 0)                                                                       \
    X(lk_virtual_at, 1, H(0, gpu), 0, OUT)                                                                            \
    X(lk_kernel_launch, 1, H(0, kernel), (&(lk_launch){ LAUNCH }), NULL)                                              \
    X(lk_stream_create, 1, H(0, gpu), 0, 0, OUT)                                                                      \
    X(lk_stream_name, 1, H(0, stream), "x")                                                                           \
    X(lk_stream_destroy, 1, H(0, stream))                                                                             \
    X(lk_stream_legacy, 1, H(0, gpu))                                                                                 \
    X(lk_stream_per_thread, 1, H(0, gpu))                                                                             \
    X(lk_stream_query, 1, H(0, stream))                                                                               \
    X(lk_stream_synchronise, 1, H(0, stream))                                                                         \
    X(lk_stream_wait, 2, H(0, stream), H(1, event))                                                                   \
    X(lk_stream_wait_value, 1, H(0, stream), 0, 0, 0, 0)                                                              \
    X(lk_stream_write_value, 1, H(0, stream), 0, 0, 0)                                                                \
    X(lk_host_call, 1, H(0, stream), NULL, OUT)                                                                       \
    X(lk_event_create, 1, H(0, gpu), 0, OUT)                                                                          \
    X(lk_event_destroy, 1, H(0, event))                                                                               \
    X(lk_event_record, 2, H(0, event), H(1, stream))                                                                  \
    X(lk_event_query, 1, H(0, event))                                                                                 \
    X(lk_event_synchronise, 1, H(0, event))                                                                           \
    X(lk_event_elapsed, 2, H(0, event), H(1, event), OUT)                                                             \
    X(lk_stream_capture, 1, H(0, stream), 0)                                                                          \
    X(lk_stream_capture_end, 1, H(0, stream), OUT)                                                                    \
    X(lk_stream_capture_status, 1, H(0, stream), OUT)                                                                 \
    X(lk_event_record_external, 2, H(0, event), H(1, stream))                                                         \
    X(lk_stream_wait_external, 2, H(0, stream), H(1, event))                                                          \
    X(lk_graph_create, 1, H(0, gpu), OUT)                                                                             \
    X(lk_graph_destroy, 1, H(0, graph))                                                                               \
    X(lk_graph_add_empty, 1, H(0, graph), NULL, 0, OUT)                                                               \
    X(lk_graph_add_launch, 2, H(0, graph), NULL, 0, H(1, kernel), (&(lk_launch){ LAUNCH }), OUT)                      \
    X(lk_graph_add_copy, 1, H(0, graph), NULL, 0, (&(lk_copy){ COPY }), OUT)                                          \
    X(lk_graph_add_fill, 1, H(0, graph), NULL, 0, (&(lk_fill){ FILL }), OUT)                                          \
    X(lk_graph_add_host, 1, H(0, graph), NULL, 0, NULL, OUT, OUT)                                                     \
    X(lk_graph_add_record, 2, H(0, graph), NULL, 0, H(1, event), OUT)                                                 \
    X(lk_graph_add_wait, 2, H(0, graph), NULL, 0, H(1, event), OUT)                                                   \
    X(lk_graph_add_child, 2, H(0, graph), NULL, 0, H(1, graph), OUT)                                                  \
    X(lk_graph_add_alloc, 1, H(0, graph), NULL, 0, 0, "x", OUT, OUT)                                                  \
    X(lk_graph_add_free, 1, H(0, graph), NULL, 0, 0, OUT)                                                             \
    X(lk_graph_edge, 3, H(0, graph), H(1, node), H(2, node))                                                          \
    X(lk_graph_edge_remove, 3, H(0, graph), H(1, node), H(2, node))                                                   \
    X(lk_graph_node_count, 1, H(0, graph))                                                                            \
    X(lk_graph_instantiate, 1, H(0, graph), 0, OUT)                                                                   \
    X(lk_exec_destroy, 1, H(0, exec))                                                                                 \
    X(lk_exec_launch, 2, H(0, exec), H(1, stream))                                                                    \
    X(lk_exec_update, 2, H(0, exec), H(1, graph))                                                                     \
    X(lk_exec_set_launch, 3, H(0, exec), H(1, node), H(2, kernel), (&(lk_launch){ LAUNCH }))                          \
    X(lk_exec_set_copy, 2, H(0, exec), H(1, node), (&(lk_copy){ COPY }))                                              \
    X(lk_exec_set_fill, 2, H(0, exec), H(1, node), (&(lk_fill){ FILL }))                                              \
    X(lk_exec_set_host, 2, H(0, exec), H(1, node), NULL, OUT)                                                         \
    X(lk_contract_read, 1, H(0, gpu), "x", "x", 0, OUT)                                                               \
    X(lk_contract_read_with, 1, H(0, gpu), "x", "x", 0, NULL, 0, OUT)                                                 \
    X(lk_contract_read_case, 1, H(0, gpu), "x", "x", 0, "x", "x", OUT)                                                \
    X(lk_contract_free, 1, H(0, contract))                                                                            \
    X(lk_contract_kernel, 1, H(0, contract), 0)                                                                       \
    X(lk_contract_flags, 1, H(0, contract), 0)                                                                        \
    X(lk_contract_bind, 2, H(0, contract), H(1, kernel), NULL, 0)                                                     \
    X(lk_contract_layout, 1, H(0, contract), "x", "x")                                                                \
    X(lk_contract_dims, 1, H(0, contract))                                                                            \
    X(lk_contract_oracle, 1, H(0, contract))                                                                          \
    X(lk_contract_argument_count, 1, H(0, contract))                                                                  \
    X(lk_contract_argument, 1, H(0, contract), 0, OUT)                                                                \
    X(lk_contract_fill, 1, H(0, contract), 0, 0, OUT)                                                                 \
    X(lk_contract_shape, 1, H(0, contract), OUT)                                                                      \
    X(lk_contract_is_empty, 1, H(0, contract))                                                                        \
    X(lk_gpu_choose, 1, H(0, gpu), NULL, OUT)                                                                         \
    X(lk_gpu_interrupt, 1, H(0, gpu))                                                                                 \
    X(lk_gpu_progress, 1, H(0, gpu), OUT)                                                                             \
    X(lk_images_close, 1, H(0, images))                                                                               \
    X(lk_images_error, 1, H(0, images))                                                                               \
    X(lk_images_kind, 1, H(0, images))                                                                                \
    X(lk_images_machine, 1, H(0, images))                                                                             \
    X(lk_images_fatbin, 1, H(0, images), 0, OUT)                                                                      \
    X(lk_images_at, 1, H(0, images), 0, OUT)                                                                          \
    X(lk_images_unpack, 1, H(0, images), 0, OUT, OUT)                                                                 \
    X(lk_images_code, 1, H(0, images), 0, OUT)                                                                        \
    X(lk_images_kernel, 1, H(0, images), 0, 0, OUT)                                                                   \
    X(lk_images_param, 1, H(0, images), 0, 0, 0, OUT)                                                                 \
    X(lk_images_choose, 1, H(0, images), 0, "x", 0, OUT)                                                              \
    X(lk_images_verdict, 1, H(0, images), 0, "x", 0)                                                                  \
    X(lk_images_keep, 1, H(0, images), NULL, 0, "x")                                                                  \
    X(lk_report_errors, 1, H(0, gpu))                                                                                 \
    X(lk_report_notes, 1, H(0, gpu))                                                                                  \
    X(lk_report_text, 1, H(0, gpu), 0)                                                                                \
    X(lk_report_leaks, 1, H(0, gpu))                                                                                  \
    X(lk_report_leaks_host, 1, H(0, gpu))                                                                             \
    X(lk_report_run, 2, H(0, gpu), H(1, gpu))                                                                         \
    X(lk_report_compare, 2, H(0, gpu), 0, H(1, gpu), 0, 0, OUT)                                                       \
    X(lk_report_limit, 1, H(0, gpu), 0)                                                                               \
    X(lk_report_json, 1, H(0, gpu))                                                                                   \
    X(lk_report_sarif, 1, H(0, gpu))                                                                                  \
    X(lk_report_junit, 1, H(0, gpu), "x")                                                                             \
    X(lk_report_suppress, 1, H(0, gpu), "x")                                                                          \
    X(lk_report_suppressed, 1, H(0, gpu))                                                                             \
    X(lk_report_rules, 1, H(0, gpu))                                                                                  \
    X(lk_report_unused, 1, H(0, gpu))                                                                                 \
    X(lk_profile_text, 1, H(0, gpu), 0, 0)                                                                            \
    X(lk_profile_json, 1, H(0, gpu))                                                                                  \
    X(lk_report_html, 1, H(0, gpu))                                                                                   \
    X(lk_report_clear, 1, H(0, gpu))                                                                                  \
    /* handles in structs and lists */                                                                                \
    X(lk_kernel_launch, 2, H(0, kernel), (&(lk_launch){ LAUNCH, .stream = H(1, stream) }), NULL)                      \
    X(lk_kernel_launch, 2, H(0, kernel), (&(lk_launch){ LAUNCH, .contract = H(1, contract) }), NULL)                  \
    X(lk_memory_copy, 2, H(0, gpu), (&(lk_copy){ COPY, .stream = H(1, stream) }))                                     \
    X(lk_memory_copy, 2, H(0, gpu), (&(lk_copy){ COPY, .to = { .gpu = H(1, gpu) } }))                                 \
    X(lk_memory_copy, 2, H(0, gpu), (&(lk_copy){ COPY, .from = { .gpu = H(1, gpu) } }))                               \
    X(lk_memory_set, 2, H(0, gpu), (&(lk_fill){ FILL, .stream = H(1, stream) }))                                      \
    X(lk_graph_add_empty, 2, H(0, graph), (lk_node *const[]){ H(1, node) }, 1, OUT)                                   \
    X(lk_graph_add_launch, 2, H(0, graph), NULL, 0, any.kernel, (&(lk_launch){ LAUNCH, .contract = H(1, contract) }), \
      OUT)                                                                                                            \
    X(lk_graph_add_copy, 2, H(0, graph), NULL, 0, (&(lk_copy){ COPY, .to = { .gpu = H(1, gpu) } }), OUT)              \
    X(lk_exec_set_copy, 3, H(0, exec), H(1, node), (&(lk_copy){ COPY, .from = { .gpu = H(2, gpu) } }))

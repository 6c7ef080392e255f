/* node_type.h: the kinds of nodes of a graph as CUDA's driver numbers them (CUgraphNodeType): for the driver that is
 * called (driver.h), and for the one that is offered (driver_graphs/cu_graph.h). */
#ifndef LOCKSTEP_NODE_TYPE_H
#define LOCKSTEP_NODE_TYPE_H
enum cu_node_type {
    CU_NODE_KERNEL,
    CU_NODE_COPY,
    CU_NODE_FILL,
    CU_NODE_HOST,
    CU_NODE_GRAPH,
    CU_NODE_EMPTY,
    CU_NODE_WAIT,
    CU_NODE_RECORD,
    CU_NODE_ALLOC = 10,
    CU_NODE_FREE,
    CU_NODE_BATCH,
    CU_NODE_CONDITIONAL
};
#endif

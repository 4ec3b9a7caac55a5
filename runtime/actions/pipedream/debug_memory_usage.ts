/**
 * `pipedream_utils-debug-memory-usage`: the memory of the process that runs the step.
 *
 * Other steps may run in the same process; their share is not told apart.
 */

import { getHeapStatistics } from "node:v8";
import type { StepArguments } from "../step.ts";

export default {
  key: "pipedream_utils-debug-memory-usage",
  name: "Debug Memory Usage",
  version: "0.0.1",
  type: "action",
  description: "Get the memory usage of the process that runs the workflow.",
  props: {},
  run({ $ }: StepArguments) {
    const heap = getHeapStatistics();
    $.export("$summary", "Read the memory usage");
    return {
      totalHeapSize: megabytes(heap.total_heap_size),
      totalHeapSizeExecutable: megabytes(heap.total_heap_size_executable),
      totalPhysicalSize: megabytes(heap.total_physical_size),
      totalAvailableSize: megabytes(heap.total_available_size),
      usedHeapSize: megabytes(heap.used_heap_size),
      heapSizeLimit: megabytes(heap.heap_size_limit),
    };
  },
};

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(2)} MB`;
}

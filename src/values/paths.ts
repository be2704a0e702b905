/** The value that a path of steps leads to in nested objects. Undefined when a step is missing or leads through null. */
export function valueAt(tree: unknown, path: readonly string[]): unknown {
  return path.reduce((branch, step) => (branch as Readonly<Record<string, unknown>> | null | undefined)?.[step], tree);
}

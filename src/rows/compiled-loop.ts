import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The part of the standard WebAssembly object that is used here. Only the browser's types declare it, not Node's. */
declare const WebAssembly: {
  readonly Module: new (bytes: Buffer) => object;
  readonly Instance: new (module: object, imports: object) => { readonly exports: unknown };
  readonly Memory: new (size: { readonly initial: number }) => LoopMemory;
};

/** A loop's memory. A loop that lets it grow gives it another buffer, and the former one is empty then. */
interface LoopMemory {
  readonly buffer: ArrayBuffer;
}

export const PAGE_LENGTH = 64 * 1024;

/** A loop of src/rows/assembly, which `npm run build` compiles to WebAssembly. */
export class CompiledLoop<Exports> {
  private readonly module: object;

  constructor(name: string) {
    // The sources find the file from `src` as well, where the tests and `npm run dev` run them.
    this.module = new WebAssembly.Module(readFileSync(join(__dirname, `../../dist/rows/${name}.wasm`)));
  }

  /** Returns the functions of the loop, which share a memory of their own. */
  open(pages: number): { readonly loop: Exports; readonly memory: LoopMemory } {
    const memory = new WebAssembly.Memory({ initial: pages });
    return { loop: new WebAssembly.Instance(this.module, { env: { memory } }).exports as Exports, memory };
  }
}

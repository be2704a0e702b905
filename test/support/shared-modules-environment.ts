import { ModuleMocker } from 'jest-mock';

/** Names under which Jest keeps the event handlers and the time limit of one test file among the globals. */
const STATE = ['EVENT_HANDLERS', 'TEST_TIMEOUT_SYMBOL'].map((name) => Symbol.for(name));

/** Runs tests among the globals of the process, which are those of modules that test files share. */
export default class SharedModulesEnvironment {
  readonly global = globalThis;
  readonly moduleMocker = new ModuleMocker(globalThis);
  readonly fakeTimers = null;
  readonly fakeTimersModern = null;
  private readonly console = globalThis.console;
  private readonly exit = process.exit.bind(process);

  /** Jest asks for a hundred lines of each stack, which graphql reads of every error that it answers. */
  async setup(): Promise<void> {
    Error.stackTraceLimit = 10;
  }

  /** Undoes the changes that Jest makes for one test file. */
  async teardown(): Promise<void> {
    globalThis.console = this.console;
    process.exit = this.exit;
    for (const name of STATE) Reflect.deleteProperty(globalThis, name);
  }

  exportConditions(): string[] {
    return ['node', 'node-addons'];
  }

  getVmContext(): null {
    return null;
  }
}

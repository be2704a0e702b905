/** The sizes of the loads. A machine with other work may need smaller ones, by variables of the environment. */
export interface LoadSizes {
  /** REQUESTS_PER_SECOND: the pace of requests. */
  readonly perSecond: number;
  /** CITUS_GIFTS: the gifts of the organization whose answers are compared; each has two lines on average. */
  readonly gifts: number;
  /** CITUS_ROUNDS: the times that each question is measured. */
  readonly rounds: number;
  /** CITUS_MOVE_SECONDS: the time for which an organization is moved. */
  readonly moveSeconds: number;
}

/** Reads the environment, in this one place. Throws at a variable that is no number. */
export function readLoadSizes(): LoadSizes {
  const read = (name: string, fallback: number): number => {
    const value = Number(process.env[name] ?? fallback);
    if (!Number.isInteger(value) || value <= 0) throw new Error(`${name}: expected a whole number above 0`);
    return value;
  };
  return {
    perSecond: read('REQUESTS_PER_SECOND', 200),
    gifts: read('CITUS_GIFTS', 25_000),
    rounds: read('CITUS_ROUNDS', 15),
    moveSeconds: read('CITUS_MOVE_SECONDS', 60),
  };
}

import { endAtLast } from '../bench/endings';
import { makeClusterDirectory, startCluster } from '../trust/postgres-cluster';

/** A PostgreSQL that one part of the table has for itself. */
interface SingleCluster {
  readonly url: string;
  /** The directory of its files, in which others may stand. */
  readonly path: string;
  /** Ends it and removes the directory. */
  stop(): Promise<void>;
}

/** Starts a PostgreSQL that ends with the part at the latest. */
export async function startSingleCluster(): Promise<SingleCluster> {
  const directory = makeClusterDirectory();
  const cluster = await startCluster(directory.path);
  const stop = endAtLast(async () => {
    await cluster.stop();
    directory.remove();
  });
  return { url: cluster.url, path: directory.path, stop };
}

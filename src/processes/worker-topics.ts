/** The topics of the channel between the primary and a worker about the worker's life. */
export const TOPICS = {
  /** The worker gets messages from now on. Node drops those that come before, while it loads modules. */
  listening: 'worker.listening',
  /** The primary asks the worker to serve, and sends its settings. The answer comes when it can. */
  start: 'worker.start',
  /** The worker answers with `Connection: close` from now on, and is not ready. */
  drain: 'worker.drain',
  /** No further connection comes. The worker answers whether its answers in flight have all left, then closes what it has open, and ends. */
  finish: 'worker.finish',
  /** The worker ends at once, and cuts its answers in flight. */
  cut: 'worker.cut',
  /** The primary asks for the worker's metrics. */
  metrics: 'worker.metrics',
} as const;

/** The exit status of a worker that was told to end. Any other is a death. */
export const WORKER_EXITS = { whole: 0, cut: 3 } as const;

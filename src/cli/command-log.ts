import { pino, type Logger } from 'pino';
import type { Config } from '../config';

const STANDARD_ERROR = 2;

/** The log of a command, on standard error. */
export const logOf = (config: Config): Logger => pino({ level: config.LOG_LEVEL }, pino.destination(STANDARD_ERROR));

import { isDistributed } from './database';

/** A test of something that distributed books do not have: a view in the place of a table, a trigger, a backup, the name of a state. */
export const testOnOneNode = isDistributed ? test.skip : test;

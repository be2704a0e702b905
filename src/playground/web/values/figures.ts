/** Shown for an amount that the books do not say. Unknown is not 0. */
export const UNKNOWN = 'unknown';

/** Shown where a figure has no percentage, because the one that it is compared with is zero or negative. */
export const NO_PERCENTAGE = '–';

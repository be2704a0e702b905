/** The most amounts of which all sums are tried. Each half of them has 1024 sums. */
export const MOST_ADDENDS = 20;
/** Sums of this many such amounts are whole numbers that a double holds exactly. */
export const MOST_CENTS = 2 ** 53 / 32;

/** The ways in which some of the amounts come to a sum. Sets are bits: the first amount is the lowest. */
export interface SumWays {
  /** The number of sets, of which two are as good as more. */
  readonly count: number;
  /** The amounts that are in any of the sets. */
  readonly members: number;
}

interface Half {
  /** The sums of all sets of the half, the smallest first. */
  readonly sums: Float64Array;
  readonly sets: Int32Array;
}

/**
 * Finds which sets of the first amounts, in whole hundredths, come to a sum. All sets are looked at: the sums of one half of the amounts meet
 * those of the other half. The halves grow with the number of amounts, which must not become smaller from one call to the next.
 */
export function createSumFinder(amounts: readonly number[]): (count: number, sum: number) => SumWays {
  let low = NOTHING;
  let high = NOTHING;
  let length = 0;
  return (count, sum) => {
    for (; length < count; length++) {
      if (length < MOST_ADDENDS / 2) low = withAmount(low, amounts[length]!, 1 << length);
      else high = withAmount(high, amounts[length]!, 1 << length);
    }
    return countWays(low, high, sum);
  };
}

/** The sums of no amount: one set, which is empty. */
const NOTHING: Half = { sums: new Float64Array(1), sets: new Int32Array(1) };

function countWays(low: Half, high: Half, sum: number): SumWays {
  let [count, members] = [0, 0];
  let [up, down] = [0, high.sums.length - 1];
  while (up < low.sums.length && down >= 0) {
    const [first, second] = [low.sums[up]!, high.sums[down]!];
    if (first + second < sum) up++;
    else if (first + second > sum) down--;
    else {
      // Every set of one run goes with every set of the other.
      const [upBefore, downBefore] = [up, down];
      for (; up < low.sums.length && low.sums[up] === first; up++) members |= low.sets[up]!;
      for (; down >= 0 && high.sums[down] === second; down--) members |= high.sets[down]!;
      count += (up - upBefore) * (downBefore - down);
    }
  }
  return { count, members };
}

/** Merges the sums without an amount and those with it, in order. */
function withAmount({ sums, sets }: Half, amount: number, bit: number): Half {
  const next: Half = { sums: new Float64Array(sums.length * 2), sets: new Int32Array(sums.length * 2) };
  for (let at = 0, without = 0, having = 0; at < next.sums.length; at++) {
    if (having === sums.length || (without < sums.length && sums[without]! <= sums[having]! + amount)) {
      next.sums[at] = sums[without]!;
      next.sets[at] = sets[without++]!;
    } else {
      next.sums[at] = sums[having]! + amount;
      next.sets[at] = sets[having++]! | bit;
    }
  }
  return next;
}

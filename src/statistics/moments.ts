/**
 * Sums over observations that give the variance of any ratio of their totals, in memory that does not grow with them.
 *
 * An observation is a row of a few numbers. The totals of each number and the products of each pair are kept. Rows of one session are not
 * independent of each other, so what must be squared is the session's sum. Sessions without end cannot be kept, so they are dealt by a
 * hash of their id into a fixed number of groups: whole sessions share a group, groups are independent of each other, and their sums vary
 * as much as the sessions in them do (random groups: Wolter, Introduction to Variance Estimation, 2nd ed. 2007, chapter 2). The hash is
 * the same everywhere and always, so sums of two hours or two replicas add up to the sums of both.
 */

/** This many groups show the variance as well as this many sessions. 95 % intervals are 1 % wider than with unlimited sessions. */
export const groupsMax = 128;

/** Can be stored as JSON. */
export interface MomentsData {
  /** Rows without a session; each is a separate unit. */
  readonly alone: number;
  /** Totals of all rows. */
  readonly totals: readonly number[];
  /** Sums of products over rows without a session: [0][0], [0][1], …, [1][1], … */
  readonly products: readonly number[];
  /** Totals of the rows of each group, by its number. At most `groupsMax`. */
  readonly groups: readonly { readonly group: number; readonly totals: readonly number[] }[];
}

export interface Moments {
  add(row: readonly number[], session?: string): void;
  merge(other: MomentsData): void;
  data(): MomentsData;
}

export function moments(width: number): Moments {
  let alone = 0;
  const totals = zeros(width);
  const products = zeros((width * (width + 1)) / 2);
  const groups = new Map<number, number[]>();
  const groupOf = (group: number): number[] => {
    const known = groups.get(group) ?? zeros(width);
    groups.set(group, known);
    return known;
  };
  return {
    add(row, session) {
      addTo(totals, row);
      if (session !== undefined) return addTo(groupOf(groupNumber(session)), row);
      alone++;
      addProducts(products, row);
    },
    merge(other) {
      alone += other.alone;
      addTo(totals, other.totals);
      addTo(products, other.products);
      for (const one of other.groups) addTo(groupOf(one.group), one.totals);
    },
    data: () => ({
      alone,
      totals: [...totals],
      products: [...products],
      groups: [...groups].map(([group, sums]) => ({ group, totals: [...sums] })),
    }),
  };
}

/** Rows without session and groups: what is independent of each other. */
export function unitCount({ alone, groups }: MomentsData): number {
  return alone + groups.length;
}

/**
 * Variance of the total of `factors · row`, whose total is about 0; for two lists of factors their covariance. A group pulls the estimate
 * towards itself, so its deviation looks smaller by its part of all weight. The variance gives that back (the form CR2 of Bell and
 * McCaffrey, Survey Methodology 28, 2002). `weightAt` is the place of the weight in a row.
 */
export function totalVariance(
  data: MomentsData,
  { factors, others = factors, weightAt, units = unitCount(data) }: VarianceOptions,
): number {
  if (units < 2) return Number.NaN;
  const all = data.totals[weightAt] ?? 0;
  const ofGroups = data.groups.reduce((sum, { totals }) => {
    const left = 1 - (totals[weightAt] ?? 0) / all;
    return left <= 0 ? sum : sum + (dot(factors, totals) * dot(others, totals)) / left;
  }, 0);
  return (bilinear(data.products, factors, others) * units) / (units - 1) + ofGroups;
}

export interface VarianceOptions {
  readonly factors: readonly number[];
  readonly others?: readonly number[];
  readonly weightAt: number;
  /** Independent units that bear weight; all of them when left out. */
  readonly units?: number;
}

/** Sum of the squares of one number over the units. */
export function unitSquares(data: MomentsData, at: number): number {
  const factors = data.totals.map((_, place) => (place === at ? 1 : 0));
  return bilinear(data.products, factors, factors) + data.groups.reduce((sum, { totals }) => sum + (totals[at] ?? 0) ** 2, 0);
}

function bilinear(products: readonly number[], one: readonly number[], other: readonly number[]): number {
  let sum = 0;
  let place = 0;
  for (let row = 0; row < one.length; row++) {
    for (let column = row; column < one.length; column++, place++) {
      const factor = (one[row] ?? 0) * (other[column] ?? 0);
      sum += (products[place] ?? 0) * (row === column ? factor : factor + (one[column] ?? 0) * (other[row] ?? 0));
    }
  }
  return sum;
}

function dot(factors: readonly number[], row: readonly number[]): number {
  return factors.reduce((sum, factor, at) => sum + factor * (row[at] ?? 0), 0);
}

function addProducts(products: number[], row: readonly number[]): void {
  let place = 0;
  for (let at = 0; at < row.length; at++) {
    for (let other = at; other < row.length; other++, place++)
      products[place] = (products[place] ?? 0) + (row[at] ?? 0) * (row[other] ?? 0);
  }
}

function zeros(length: number): number[] {
  return Array.from({ length }, () => 0);
}

function addTo(sums: number[], row: readonly number[]): void {
  for (let at = 0; at < sums.length; at++) sums[at] = (sums[at] ?? 0) + (row[at] ?? 0);
}

/** FNV-1a with MurmurHash3's last steps; not to be changed, for stored sums hold by it. */
function groupNumber(session: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < session.length; at++) hash = Math.imul(hash ^ session.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % groupsMax;
}

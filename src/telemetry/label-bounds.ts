/** Bounds how many values a label of foreign origin has over all metrics: whoever sends spans names agents and services, and each name makes series. */

/** `within`: the label whose values each have a bound of their own, so that no tenant uses up what others may have. */
export interface BoundedLabel {
  readonly label: string;
  readonly within: string;
}

export const otherValue = 'other';

export interface LabelBounds {
  /** The values as they are kept: those beyond the bound are `other`. The same array when nothing is folded. */
  kept(labels: readonly string[], values: readonly string[]): readonly string[];
}

/** Values of `within` beyond it share one bound. */
const scopesMax = 1_000;

export function labelBounds(bounded: readonly BoundedLabel[], valuesMax: number): LabelBounds {
  const bounds = new Map(bounded.map((row) => [row.label, { within: row.within, known: new Map<string, Set<string>>() }] as const));

  function isKept(known: Map<string, Set<string>>, scope: string, value: string): boolean {
    const own = known.has(scope) || known.size < scopesMax ? scope : otherValue;
    const values = known.get(own) ?? new Set<string>();
    known.set(own, values);
    if (values.has(value)) return true;
    if (values.size >= valuesMax) return false;
    values.add(value);
    return true;
  }

  return {
    kept(labels, values) {
      let kept: string[] | undefined;
      labels.forEach((label, at) => {
        const bound = bounds.get(label);
        const value = values[at] ?? '';
        if (
          bound === undefined ||
          value === '' ||
          value === otherValue ||
          isKept(bound.known, values[labels.indexOf(bound.within)] ?? '', value)
        )
          return;
        kept ??= [...values];
        kept[at] = otherValue;
      });
      return kept ?? values;
    },
  };
}

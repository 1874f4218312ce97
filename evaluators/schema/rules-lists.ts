/** Keywords that look into lists. */
import { isJsonArray, type JsonValue } from '../../src/model/json.ts';
import { canonicalText } from '../matching/equality.ts';
import {
  addGaps,
  fail,
  inside,
  spend,
  trial,
  withShare,
  type Check,
  type Checking,
  type Failure,
  type Place,
  type SchemaRule,
} from './rule.ts';

/** Items are written, to compare them: steps for each, and characters in one. */
const stepsPerItem = 3;
const writtenPerStep = 100;

const list = (value: JsonValue): readonly JsonValue[] => (isJsonArray(value) ? value : []);

function length(keyword: string, says: string, holds: (count: number, limit: number) => boolean): SchemaRule {
  return {
    keyword,
    on: 'array',
    check(operand) {
      const bound = Number(operand);
      return (value, place, checking) => {
        if (!holds(list(value).length, bound))
          fail(checking, { keyword, place, params: { limit: bound }, message: `must NOT have ${says} than ${bound} items` });
      };
    },
  };
}

/** One text an item, so that many items cost no more than their length. Of several pairs the last one is told. */
const uniqueItems: SchemaRule = {
  keyword: 'uniqueItems',
  on: 'array',
  check(operand) {
    return (value, place, checking) => {
      if (operand !== true) return;
      const last = new Map<string, number>();
      let pair: readonly [number, number] | undefined;
      for (const [at, item] of list(value).entries()) {
        const text = canonicalText(item);
        spend(checking, stepsPerItem + Math.floor(text.length / writtenPerStep));
        const earlier = last.get(text);
        if (earlier !== undefined) pair = [earlier, at];
        last.set(text, at);
      }
      if (pair === undefined) return;
      const [j, i] = pair;
      fail(checking, {
        keyword: 'uniqueItems',
        place,
        params: { i, j },
        message: `must NOT have duplicate items (items ## ${j} and ${i} are identical)`,
      });
    };
  },
};

function each(check: Check, items: readonly JsonValue[], from: number, place: Place, checking: Checking): void {
  for (let at = from; at < items.length; at++)
    withShare(checking, items.length - at, () => check(items[at] ?? null, inside(place, at), checking, undefined));
}

/** The first items, each by a schema of its own. */
function firstItems(keyword: 'prefixItems' | 'items', draft: '2020-12' | 'draft-07'): SchemaRule {
  return {
    keyword,
    on: 'array',
    draft,
    check(operand, _schema, { node }) {
      if (!isJsonArray(operand)) return otherItems(keyword, operand, 0, node);
      const checks = operand.map(node);
      return (value, place, checking, seen) => {
        const items = list(value);
        for (const [at, check] of checks.entries())
          if (at < items.length)
            withShare(checking, items.length - at, () => check(items[at] ?? null, inside(place, at), checking, undefined));
        if (seen !== undefined) seen.items = Math.max(seen.items, checks.length);
      };
    },
  };
}

/** The items behind the first ones. */
function otherItems(keyword: string, operand: JsonValue, first: number, node: (schema: JsonValue) => Check): Check {
  const check = node(operand);
  return (value, place, checking, seen) => {
    const items = list(value);
    if (operand === false && first > 0) {
      if (items.length > first)
        fail(checking, { keyword, place, params: { limit: first }, message: `must NOT have more than ${first} items` });
    } else each(check, items, first, place, checking);
    if (seen !== undefined) seen.items = Infinity;
  };
}

const items2020: SchemaRule = {
  keyword: 'items',
  on: 'array',
  draft: '2020-12',
  check: (operand, { prefixItems }, { node }) => otherItems('items', operand, list(prefixItems ?? null).length, node),
};

const additionalItems: SchemaRule = {
  keyword: 'additionalItems',
  on: 'array',
  draft: 'draft-07',
  check(operand, { items }, { node }) {
    return items !== undefined && isJsonArray(items) ? otherItems('additionalItems', operand, items.length, node) : () => undefined;
  },
};

function contains(draft: '2020-12' | 'draft-07'): SchemaRule {
  return {
    keyword: 'contains',
    on: 'array',
    draft,
    check(operand, { minContains, maxContains }, { node }) {
      const check = node(operand);
      const least = draft === '2020-12' && typeof minContains === 'number' ? minContains : 1;
      const most = draft === '2020-12' && typeof maxContains === 'number' ? maxContains : undefined;
      return (value, place, checking, seen) => {
        if (seen !== undefined) seen.items = Infinity;
        if (least === 0 && most === undefined) return;
        const failed: Failure[] = [];
        const gaps: string[] = [];
        let [found, open] = [0, 0];
        for (const [at, item] of (most ?? least) < least ? [] : list(value).entries()) {
          const one = trial(check, item, inside(place, at), checking, undefined);
          failed.push(...one.failures);
          if (one.failures.length === 0 && one.gaps.length === 0) found++;
          else if (one.failures.length === 0) {
            open++;
            gaps.push(...one.gaps);
          }
          if (most === undefined ? found >= least : found > most) break;
        }
        const isEnough = found >= least && (most === undefined || found + open <= most);
        const mayBe = found + open >= least && (most === undefined || found <= most) && (most ?? least) >= least;
        if (isEnough) return;
        if (mayBe && open > 0) return addGaps(checking, gaps);
        checking.failures.push(...failed);
        fail(checking, {
          keyword: 'contains',
          place,
          params: { minContains: least, ...(most === undefined ? {} : { maxContains: most }) },
          message:
            most === undefined
              ? `must contain at least ${least} valid item(s)`
              : `must contain at least ${least} and no more than ${most} valid item(s)`,
        });
      };
    },
  };
}

const unevaluatedItems: SchemaRule = {
  keyword: 'unevaluatedItems',
  on: 'array',
  draft: '2020-12',
  check(operand, _schema, { node }) {
    const check = node(operand);
    return (value, place, checking, seen) => {
      const items = list(value);
      const first = seen?.items ?? 0;
      if (first < items.length && operand === false)
        fail(checking, { keyword: 'unevaluatedItems', place, params: { limit: first }, message: `must NOT have more than ${first} items` });
      else each(check, items, first, place, checking);
      if (seen !== undefined) seen.items = Infinity;
    };
  },
};

/** In the order in which their failures are told. */
export const listRules: readonly SchemaRule[] = [
  length('maxItems', 'more', (count, bound) => count <= bound),
  length('minItems', 'fewer', (count, bound) => count >= bound),
  uniqueItems,
  firstItems('prefixItems', '2020-12'),
  items2020,
  additionalItems,
  firstItems('items', 'draft-07'),
  contains('2020-12'),
  contains('draft-07'),
  unevaluatedItems,
];

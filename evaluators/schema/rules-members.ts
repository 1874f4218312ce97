/** Keywords that look into lists and objects. */
import { isJsonArray, type JsonValue, isJsonObject, member, type JsonObject } from '../../src/model/json.ts';
import { canonicalText } from '../matching/equality.ts';
import {
  addGaps,
  countBounds,
  fail,
  inside,
  schemaRule,
  spend,
  trial,
  withShare,
  type Check,
  type Checking,
  type Failure,
  type Place,
  type SchemaRule,
  leaveOut,
} from './rule.ts';
import { report, tried, searching } from './rules-values.ts';

/** Items are written, to compare them: steps for each, and characters in one. */
const stepsPerItem = 3;
const writtenPerStep = 100;

const list = (value: JsonValue): readonly JsonValue[] => (isJsonArray(value) ? value : []);
const itemCount = (value: JsonValue): number => list(value).length;

/** Each item becomes one text, so that many items cost no more than their length. Among several pairs the failure names the last. */
const uniqueItems = schemaRule('array', 'uniqueItems', (operand) => {
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
});

function each(check: Check, items: readonly JsonValue[], from: number, place: Place, checking: Checking): void {
  for (let at = from; at < items.length; at++)
    withShare(checking, items.length - at, () => check(items[at] ?? null, inside(place, at), checking, undefined));
}

/** The first items, each with a separate schema. */
function firstItems(keyword: 'prefixItems' | 'items', draft: '2020-12' | 'draft-07'): SchemaRule {
  return schemaRule(
    'array',
    keyword,
    (operand, _schema, { node }) => {
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
    draft,
  );
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

const items2020 = schemaRule(
  'array',
  'items',
  (operand, { prefixItems }, { node }) => otherItems('items', operand, list(prefixItems ?? null).length, node),
  '2020-12',
);

const additionalItems = schemaRule(
  'array',
  'additionalItems',
  (operand, { items }, { node }) => {
    return items !== undefined && isJsonArray(items) ? otherItems('additionalItems', operand, items.length, node) : () => undefined;
  },
  'draft-07',
);

function contains(draft: '2020-12' | 'draft-07'): SchemaRule {
  return schemaRule(
    'array',
    'contains',
    (operand, { minContains, maxContains }, { node }) => {
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
    draft,
  );
}

const unevaluatedItems = schemaRule(
  'array',
  'unevaluatedItems',
  (operand, _schema, { node }) => {
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
  '2020-12',
);

/** In the order in which their failures are reported. */
export const listRules: readonly SchemaRule[] = [
  ...countBounds('array', 'Items', 'items', itemCount),
  uniqueItems,
  firstItems('prefixItems', '2020-12'),
  items2020,
  additionalItems,
  firstItems('items', 'draft-07'),
  contains('2020-12'),
  contains('draft-07'),
  unevaluatedItems,
];

/** Names that are looked up in one step, and those that are listed in one. */
const namesPerStep = 8;
const listedPerStep = 3;

const object = (value: JsonValue): JsonObject => (isJsonObject(value) ? value : {});

function namesOf(value: JsonValue, checking: Checking): readonly string[] {
  const names = Object.keys(object(value));
  spend(checking, Math.ceil(names.length / listedPerStep));
  return names;
}

function nameCount(value: JsonValue, checking: Checking): number {
  return namesOf(value, checking).length;
}

const required = schemaRule('object', 'required', (operand) => {
  const names = list(operand).map(String);
  return (value, place, checking) => {
    spend(checking, Math.ceil(names.length / namesPerStep));
    for (const name of names)
      if (!Object.hasOwn(object(value), name))
        fail(checking, {
          keyword: 'required',
          place,
          name,
          params: { missingProperty: name },
          message: `must have required property '${name}'`,
        });
  };
});

const propertyNames = schemaRule('object', 'propertyNames', (operand, _schema, { node }) => {
  const check = node(operand);
  return (value, place, checking) => {
    for (const name of namesOf(value, checking)) {
      const before = checking.failures.length;
      check(name, inside(place, name), checking, undefined);
      if (checking.failures.length > before)
        fail(checking, { keyword: 'propertyNames', place, params: { propertyName: name }, message: 'property name must be valid' });
    }
  };
});

/** The members that neither `properties` nor `patternProperties` are about. */
const additionalProperties = schemaRule(
  'object',
  'additionalProperties',
  (operand, { properties, patternProperties, unappliedNames }, compiling) => {
    const named = object(properties ?? null);
    const searches = Object.keys(object(patternProperties ?? null)).map((source) => searching(compiling.pattern(source)));
    const check = compiling.node(operand);
    return (value, place, checking, seen) => {
      if (operand !== true) {
        const names = namesOf(value, checking);
        for (const [at, name] of names.entries()) {
          if (Object.hasOwn(named, name) || searches.some((matches) => matches(name, checking))) continue;
          if (unappliedNames !== undefined) leaveOut(checking, String(unappliedNames));
          else if (operand === false)
            fail(checking, {
              keyword: 'additionalProperties',
              place,
              name,
              params: { additionalProperty: name },
              message: 'must NOT have additional properties',
            });
          else
            withShare(checking, names.length - at, () =>
              check(member(object(value), name) ?? null, inside(place, name), checking, undefined),
            );
        }
      }
      if (seen !== undefined) seen.allNames = true;
    };
  },
);

/** The requirements of one member for others: names that must be there, or a schema for the whole. */
function dependent(keyword: 'dependencies' | 'dependentRequired' | 'dependentSchemas', draft?: '2020-12'): SchemaRule {
  return schemaRule(
    'object',
    keyword,
    (operand, _schema, { node }) => {
      const wanted = Object.entries(object(operand))
        .map(([name, asked]) => ({
          name,
          others: isJsonArray(asked) ? asked.map(String) : undefined,
          check: isJsonArray(asked) ? undefined : node(asked),
        }))
        .sort((one, other) => Number(one.check !== undefined) - Number(other.check !== undefined));
      return (value, place, checking, seen) => {
        spend(checking, Math.ceil(wanted.length / namesPerStep));
        for (const { name, others = [], check } of wanted) {
          if (!Object.hasOwn(object(value), name)) continue;
          spend(checking, Math.ceil(others.length / namesPerStep));
          for (const other of others)
            if (!Object.hasOwn(object(value), other)) fail(checking, missingDependency(keyword, place, { name, other, others }));
          if (check === undefined) continue;
          const { failures, gaps } = tried(check, value, place, checking, seen);
          report(checking, failures);
          addGaps(checking, gaps);
        }
      };
    },
    draft,
  );
}

function missingDependency(
  keyword: string,
  place: Place,
  { name, other, others }: { readonly name: string; readonly other: string; readonly others: readonly string[] },
): Failure {
  const deps = others.join(', ');
  return {
    keyword,
    place,
    name: other,
    params: { property: name, missingProperty: other, depsCount: others.length, deps },
    message: `must have ${others.length === 1 ? 'property' : 'properties'} ${deps} when property ${name} is present`,
  };
}

/** Only a value that is checked once more has its steps shared out. */
function checkMember(check: Check, value: JsonValue, place: Place, checking: Checking, left: number): void {
  if (checking.sharing) withShare(checking, left, () => check(value, place, checking, undefined));
  else check(value, place, checking, undefined);
}

const properties = schemaRule('object', 'properties', (operand, _schema, { node }) => {
  const named = Object.entries(object(operand)).map(([name, schema]) => ({ name, check: node(schema) }));
  return (value, place, checking, seen) => {
    spend(checking, Math.ceil(named.length / namesPerStep));
    let left = named.length;
    for (const { name, check } of named) {
      const found = member(object(value), name);
      if (found !== undefined) checkMember(check, found, inside(place, name), checking, left);
      left--;
      seen?.names.add(name);
    }
  };
});

const patternProperties = schemaRule('object', 'patternProperties', (operand, _schema, compiling) => {
  const patterns = Object.entries(object(operand)).map(([source, schema]) => ({
    matches: searching(compiling.pattern(source)),
    check: compiling.node(schema),
  }));
  return (value, place, checking, seen) => {
    const names = namesOf(value, checking);
    for (const { matches, check } of patterns) {
      for (const name of names) {
        if (!matches(name, checking)) continue;
        withShare(checking, names.length, () => check(member(object(value), name) ?? null, inside(place, name), checking, undefined));
        seen?.names.add(name);
      }
    }
  };
});

const unevaluatedProperties = schemaRule(
  'object',
  'unevaluatedProperties',
  (operand, _schema, { node }) => {
    const check = node(operand);
    return (value, place, checking, seen) => {
      if (seen === undefined || seen.allNames) return;
      for (const name of namesOf(value, checking)) {
        if (seen.names.has(name)) continue;
        if (operand === false)
          fail(checking, {
            keyword: 'unevaluatedProperties',
            place,
            name,
            params: { unevaluatedProperty: name },
            message: 'must NOT have unevaluated properties',
          });
        else check(member(object(value), name) ?? null, inside(place, name), checking, undefined);
      }
      seen.allNames = true;
    };
  },
  '2020-12',
);

/** Schemas for members that cannot be applied: any name may be one of theirs. */
const unappliedNames = schemaRule('object', 'unappliedNames', (operand) => (value, _place, checking, seen) => {
  if (Object.keys(object(value)).length > 0) leaveOut(checking, String(operand), seen);
});

/** In the order in which their failures are reported. */
export const objectRules: readonly SchemaRule[] = [
  unappliedNames,
  ...countBounds('object', 'Properties', 'properties', nameCount),
  required,
  propertyNames,
  additionalProperties,
  dependent('dependencies'),
  properties,
  patternProperties,
  dependent('dependentRequired', '2020-12'),
  dependent('dependentSchemas', '2020-12'),
  unevaluatedProperties,
];

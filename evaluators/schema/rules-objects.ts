/** Keywords that look into objects. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { report, tried } from './rules-combined.ts';
import { searching } from './rules-plain.ts';
import { addGaps, fail, inside, leaveOut, spend, withShare, type Checking, type Failure, type Place, type SchemaRule } from './rule.ts';

/** Names that are looked up in one step, and those that are listed in one. */
const namesPerStep = 8;
const listedPerStep = 3;

const list = (value: JsonValue): readonly JsonValue[] => (isJsonArray(value) ? value : []);
const object = (value: JsonValue): JsonObject => (isJsonObject(value) ? value : {});

function count(keyword: string, says: string, holds: (count: number, limit: number) => boolean): SchemaRule {
  return {
    keyword,
    on: 'object',
    check(operand) {
      const bound = Number(operand);
      return (value, place, checking) => {
        if (!holds(namesOf(value, checking).length, bound))
          fail(checking, { keyword, place, params: { limit: bound }, message: `must NOT have ${says} than ${bound} properties` });
      };
    },
  };
}

function namesOf(value: JsonValue, checking: Checking): readonly string[] {
  const names = Object.keys(object(value));
  spend(checking, Math.ceil(names.length / listedPerStep));
  return names;
}

const required: SchemaRule = {
  keyword: 'required',
  on: 'object',
  check(operand) {
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
  },
};

const propertyNames: SchemaRule = {
  keyword: 'propertyNames',
  on: 'object',
  check(operand, _schema, { node }) {
    const check = node(operand);
    return (value, place, checking) => {
      for (const name of namesOf(value, checking)) {
        const before = checking.failures.length;
        check(name, inside(place, name), checking, undefined);
        if (checking.failures.length > before)
          fail(checking, { keyword: 'propertyNames', place, params: { propertyName: name }, message: 'property name must be valid' });
      }
    };
  },
};

/** The members that neither `properties` nor `patternProperties` are about. */
const additionalProperties: SchemaRule = {
  keyword: 'additionalProperties',
  on: 'object',
  check(operand, { properties, patternProperties, unappliedNames }, compiling) {
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
};

/** What one member asks of others: names that must be there, or a schema for the whole. */
function dependent(keyword: 'dependencies' | 'dependentRequired' | 'dependentSchemas', draft?: '2020-12'): SchemaRule {
  return {
    keyword,
    on: 'object',
    ...(draft === undefined ? {} : { draft }),
    check(operand, _schema, { node }) {
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
  };
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

const properties: SchemaRule = {
  keyword: 'properties',
  on: 'object',
  check(operand, _schema, { node }) {
    const named = Object.entries(object(operand)).map(([name, schema]) => ({ name, check: node(schema) }));
    return (value, place, checking, seen) => {
      spend(checking, Math.ceil(named.length / namesPerStep));
      for (const [at, { name, check }] of named.entries()) {
        const found = member(object(value), name);
        if (found !== undefined) withShare(checking, named.length - at, () => check(found, inside(place, name), checking, undefined));
        seen?.names.add(name);
      }
    };
  },
};

const patternProperties: SchemaRule = {
  keyword: 'patternProperties',
  on: 'object',
  check(operand, _schema, compiling) {
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
  },
};

const unevaluatedProperties: SchemaRule = {
  keyword: 'unevaluatedProperties',
  on: 'object',
  draft: '2020-12',
  check(operand, _schema, { node }) {
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
};

/** Schemas for members that cannot be applied: any name may be one of theirs. */
const unappliedNames: SchemaRule = {
  keyword: 'unappliedNames',
  on: 'object',
  check: (operand) => (value, _place, checking, seen) => {
    if (Object.keys(object(value)).length > 0) leaveOut(checking, String(operand), seen);
  },
};

/** In the order in which their failures are told. */
export const objectRules: readonly SchemaRule[] = [
  unappliedNames,
  count('maxProperties', 'more', (found, bound) => found <= bound),
  count('minProperties', 'fewer', (found, bound) => found >= bound),
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

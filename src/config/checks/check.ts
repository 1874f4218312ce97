/** The configuration against its schema: every fault at once, in words. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject, ValidateFunction } from 'ajv';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { quantityOf, type QuantityKind } from '../../model/quantities.ts';
import { addressOf } from '../entries/address.ts';
import { patternProblem } from './pattern.ts';
import { sentence } from './schema-messages.ts';
import type { Finding, Path } from '../diagnostic.ts';

/** More faults than anyone mends in one go. */
const findingsMax = 200;
/** What the validator reports before branches are sorted out; that work grows with the square. */
const errorsMax = 2000;

export interface SchemaCheck {
  readonly findings: readonly Finding[];
  /** Paths at which a text was wanted and something else stands. */
  readonly wantText: readonly Path[];
}

export type Checker = (value: JsonValue) => SchemaCheck;

/** `hidden` is true for paths whose values must not stand in a message. */
export function checker(schema: JsonObject, hidden: (path: Path) => boolean): Checker {
  const validate = compiled(schema);
  return (value) => {
    if (validate(value) === true) return { findings: [], wantText: [] };
    const errors = withoutBranches((validate.errors ?? []).slice(0, errorsMax)).slice(0, findingsMax);
    const located = errors.map((error) => ({ error, path: pathOf(error.instancePath, value) }));
    return {
      findings: onePerPlace(located.map(({ error, path }) => finding(error, path, hidden(path)))),
      wantText: located.filter(({ error }) => error.keyword === 'type' && typesOf(error).includes('string')).map(({ path }) => path),
    };
  };
}

/** Own properties only: `constructor` in a file is an unknown key like any other. */
function compiled(schema: JsonObject): ValidateFunction {
  // Optimizing the generated code takes longer than running it ever does: a configuration is checked once.
  const ajv = new Ajv2020({ allErrors: true, strict: false, verbose: true, ownProperties: true, logger: false, code: { optimize: false } });
  for (const format of ['re2', 'regex'])
    ajv.addFormat(format, { type: 'string', validate: (text: string) => patternProblem(text) === undefined });
  ajv.addKeyword({ keyword: 'x-quantity', type: ['string', 'number'], validate: quantityFits });
  ajv.addKeyword({ keyword: 'x-address', type: 'string', validate: (_: unknown, text: string) => addressOf(text) !== undefined });
  ajv.addKeyword({ keyword: 'x-url', type: 'string', validate: (_: unknown, text: string) => isHttpUrl(text) });
  ajv.addKeyword({ keyword: 'x-pattern', type: 'string', validate: (_: unknown, text: string) => patternProblem(text) === undefined });
  return ajv.compile(schema);
}

interface QuantityRule {
  readonly kind: QuantityKind;
  readonly minimum: string;
  readonly maximum: string;
}

function quantityFits(rule: QuantityRule, value: unknown): boolean {
  const [amount, minimum, maximum] = [value, rule.minimum, rule.maximum].map((text) => quantityOf(rule.kind, text));
  return amount !== undefined && amount >= (minimum ?? 0) && amount <= (maximum ?? 0);
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.hostname !== '';
}

/** Of a failed `if`, `anyOf` or `oneOf` one error stays: that of the branch that was meant, otherwise that of the choice. */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const dropped = new Set<ErrorObject>();
  for (const choice of choices) {
    const branches = errors.filter((error) => error !== choice && error.schemaPath.startsWith(`${choice.schemaPath}/`));
    const below = branches.filter(({ instancePath }) => instancePath.length > choice.instancePath.length);
    // A value of the right shape with a fault inside: the fault inside says more.
    const reported = below.length > 0 ? new Set(below) : new Set([choice]);
    for (const error of [choice, ...branches]) if (!reported.has(error)) dropped.add(error);
  }
  return errors.filter((error) => error.keyword !== 'if' && !dropped.has(error));
}

function finding(error: ErrorObject, path: Path, hidden: boolean): Finding {
  const named = namedMember(error);
  const { problem, todo } = sentence(error, { path, hidden, typesWanted: typesOf(error) });
  return { path: named === undefined ? path : [...path, named], at: named === undefined ? 'value' : 'key', problem, todo };
}

/** The member that an error about an object is really about. */
function namedMember(error: ErrorObject): string | undefined {
  const params = error.params as {
    readonly additionalProperty?: string;
    readonly unevaluatedProperty?: string;
    readonly propertyName?: string;
  };
  return (
    params.additionalProperty ??
    params.unevaluatedProperty ??
    (error.keyword === 'propertyNames' ? params.propertyName : error.propertyName)
  );
}

function typesOf(error: ErrorObject): readonly string[] {
  const { type } = error.params as { readonly type?: string | readonly string[] };
  return type === undefined ? [] : typeof type === 'string' ? [type] : type;
}

/** Several keywords may fail on one value: the first says enough. */
function onePerPlace(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  const meant = new Set(findings.filter(({ at }) => at === 'key').map(({ path, todo }) => JSON.stringify([path.slice(0, -1), todo])));
  return findings.filter(({ path, at, problem }) => {
    // The misspelt key has its fault; the missing right one follows from it.
    if (problem.startsWith('lacks ') && meant.has(JSON.stringify([path, `Did you mean ${problem.slice('lacks '.length)}?`]))) return false;
    const place = JSON.stringify([path, problem.startsWith('lacks') ? problem : at]);
    if (seen.has(place)) return false;
    seen.add(place);
    return true;
  });
}

function pathOf(pointer: string, value: JsonValue): Path {
  const path: (string | number)[] = [];
  let at: JsonValue | undefined = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const part = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(isJsonArray(at) ? Number(part) : part);
    at = isJsonArray(at) ? at[Number(part)] : isJsonObject(at) ? member(at, part) : undefined;
  }
  return path;
}

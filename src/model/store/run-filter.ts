/** The conditions of a `RunFilter` by the names that the API, addresses of the console and `--where` have for them. */
import { runStatuses } from '../agent-trace.ts';
import { parseTraceId } from '../ids.ts';
import { quantityOf } from '../quantities.ts';
import { searchTerms, searchWordsMax } from '../search-words.ts';
import { verdictWords } from '../verdict.ts';
import { isIssueId, issueIdPattern } from './issue-store.ts';
import type { RunFilter } from './store.ts';

/** The period is separate: the API takes RFC 3339, the command line also `24h`. */
export type RunConditions = Omit<RunFilter, 'from' | 'to' | 'task'>;

export interface RunCondition {
  readonly member: keyof RunConditions;
  /** The description of the parameter. */
  readonly about: string;
  /** The accepted values, for the end of a message: `agent takes the name of an agent`. */
  readonly takes: string;
  /** The schema of the parameter where it is not any text. */
  readonly schema?:
    | { readonly enum: readonly string[] }
    | { readonly type: 'string'; readonly pattern: string }
    | { readonly type: 'number' };
  /** The value of a text on a command line; `undefined` when the text is wrong. Default: the text, when it is not empty. */
  readonly parse?: (text: string) => string | number | boolean | undefined;
  /** Units of the filter in one unit of the API. */
  readonly scale?: number;
}

const DECIMAL = /^\d{1,15}(?:\.\d{1,9})?$/;

const microsPerSecond = 1_000_000;

const seconds = {
  schema: { type: 'number' },
  takes: 'a number of seconds, or a duration such as 30s',
  scale: microsPerSecond,
  parse: (text: string) => (DECIMAL.test(text) ? Number(text) * microsPerSecond : known(quantityOf('duration', text), 1_000)),
} as const;

const dollars = {
  schema: { type: 'number' },
  takes: 'a number of US dollars',
  parse: (text: string) => (DECIMAL.test(text) ? Number(text) : undefined),
} as const;

function known(value: number | undefined, scale: number): number | undefined {
  return value === undefined ? undefined : value * scale;
}

function oneOf(words: readonly string[]): Pick<RunCondition, 'takes' | 'schema' | 'parse'> {
  return { takes: `one of ${words.join(', ')}`, schema: { enum: words }, parse: (text) => words.find((word) => word === text) };
}

const conditions = {
  agent: { member: 'agent', takes: 'the name of an agent', about: 'Name of the agent.' },
  version: { member: 'version', takes: 'the version of a service', about: 'Version of the agent, by `groups.version_key`.' },
  model: { member: 'model', takes: 'the name of a model', about: 'Model of the agent, as the run names it first.' },
  prompt: { member: 'prompt', takes: 'the hash of a system prompt', about: 'Hash of the system prompt, as `/versions` lists it.' },
  service: { member: 'service', takes: 'the name of a service', about: 'Name of the service.' },
  session: { member: 'sessionId', takes: 'the id of a session', about: 'Session id.' },
  user: { member: 'userId', takes: 'the id of a user', about: 'Id of the person or customer that the agent works for.' },
  environment: { member: 'environment', takes: 'the name of an environment', about: '`deployment.environment.name` of the resource.' },
  trace: {
    member: 'traceId',
    takes: 'a trace id of 32 hexadecimal digits',
    about: 'Trace id, lower-case hex.',
    schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    parse: parseTraceId,
  },
  tenant: {
    member: 'tenant',
    takes: 'the name of a tenant',
    about: 'Name of the token of the spans; empty for spans without a token.',
    parse: (text: string) => text,
  },
  status: {
    member: 'status',
    ...oneOf(runStatuses),
    about: 'Runs that ended well (`ok`), that ended in an error (`error`), or that wait for a person or another program (`paused`).',
  },
  evaluator: { member: 'evaluator', takes: 'the name of an evaluator', about: 'Runs with a verdict of this name.' },
  verdict: { member: 'verdict', ...oneOf(verdictWords), about: 'Runs with such a verdict, of `evaluator` or of any.' },
  annotated: {
    member: 'annotated',
    takes: 'yes or no',
    about: '`true`: runs with an annotation; `false`: the others.',
    schema: { enum: ['true', 'false'] },
    parse: (text: string) => (text === 'yes' || text === 'no' ? text === 'yes' : undefined),
  },
  label: {
    member: 'label',
    takes: 'the label of an annotation, or NAME=LABEL',
    about: 'Runs with an annotation of this label, or `name=label`.',
  },
  text: {
    member: 'text',
    takes: 'words of the input or the final answer',
    about: `Runs whose input and final answer have all these words, at most ${searchWordsMax}; the last word may be the beginning of one.`,
    parse: (text: string) => (isSearch(text) ? text : undefined),
  },
  tool: { member: 'tool', takes: 'the name of a tool', about: 'Runs with a call of this tool.' },
  issue: {
    member: 'issue',
    takes: 'the id of an issue, 12 hexadecimal digits',
    about: 'Runs of the issue with this id.',
    schema: { type: 'string', pattern: issueIdPattern },
    parse: (text: string) => (isIssueId(text) ? text : undefined),
  },
  min_duration: { member: 'minDuration', ...seconds, about: 'Runs that took this number of seconds or longer.' },
  max_duration: { member: 'maxDuration', ...seconds, about: 'Runs that took this number of seconds or less.' },
  min_cost: {
    member: 'minCost',
    ...dollars,
    about: 'Runs of this cost in US dollars or more. A run of unknown cost matches no bound.',
  },
  max_cost: { member: 'maxCost', ...dollars, about: 'Runs of this cost in US dollars or less.' },
} as const satisfies { readonly [name: string]: RunCondition };

export type RunConditionName = keyof typeof conditions;

/** In the order of documents. */
export const runConditions: { readonly [Name in RunConditionName]: RunCondition } = conditions;
export const runConditionNames = Object.keys(conditions) as readonly RunConditionName[];

function isSearch(text: string): boolean {
  const { words, prefix } = searchTerms(text);
  return words.length > 0 || prefix !== undefined;
}

/** The value of one condition on a command line; `undefined` when the text is wrong. */
export function parseCondition(name: RunConditionName, text: string): RunConditions | undefined {
  const { member, parse = notEmpty } = runConditions[name];
  const value = parse(text);
  return value === undefined ? undefined : { [member]: value };
}

function notEmpty(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** The conditions in the parameters of a request that their schemas have accepted. */
export function conditionsOfQuery(query: { readonly [name: string]: unknown }): RunConditions {
  return Object.fromEntries(
    runConditionNames.flatMap((name): readonly (readonly [keyof RunConditions, string | number | boolean])[] => {
      const [value, { member, scale = 1 }] = [query[name], runConditions[name]];
      if (typeof value === 'number') return [[member, value * scale]];
      if (typeof value !== 'string') return [];
      return [[member, member === 'annotated' ? value === 'true' : value]];
    }),
  );
}

/** The parameters of a request for these conditions. */
export function queryOfConditions(filter: RunConditions): { readonly [name: string]: string } {
  return Object.fromEntries(
    runConditionNames.flatMap((name) => {
      const { member, scale = 1 } = runConditions[name];
      const value = filter[member];
      return value === undefined ? [] : [[name, String(typeof value === 'number' ? value / scale : value)]];
    }),
  );
}

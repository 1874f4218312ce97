/**
 * Recordings as an unknown instrumentation might have written them: other prefixes, other words for kinds, content in other places,
 * more spans. The knowledge of a collector of an SDK does not help there.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { traceRequest } from '../otlp/descriptors.ts';
import type { RenamedFile } from './rename.ts';
import type { Recording } from './read.ts';

export interface RawAttribute {
  key: string;
  value: {
    stringValue?: string;
    intValue?: unknown;
    doubleValue?: unknown;
    boolValue?: boolean;
    arrayValue?: unknown;
    kvlistValue?: unknown;
  };
}
interface RawEvent {
  name: string;
  timeUnixNano?: unknown;
  attributes?: RawAttribute[];
}
export interface RawSpan {
  name: string;
  traceId: unknown;
  spanId: unknown;
  parentSpanId?: unknown;
  kind?: unknown;
  startTimeUnixNano: unknown;
  endTimeUnixNano: unknown;
  attributes?: RawAttribute[];
  events?: RawEvent[];
  status?: unknown;
}
interface RawScope {
  scope?: { name?: string; version?: string; attributes?: RawAttribute[] };
  spans?: RawSpan[];
}
interface RawRequest {
  resourceSpans?: { scopeSpans?: RawScope[] }[];
}

export interface Mutation {
  readonly name: string;
  /** Changes a span; what it gives besides is sent with it. */
  readonly span: (span: RawSpan, isLeaf: boolean) => readonly RawSpan[] | void;
}

/** The bodies of a recording with each span changed, all of one scope of a stranger's. */
export function mutated(recording: Recording, mutations: readonly Mutation[]): readonly RenamedFile[] {
  const scopes: string[] = [];
  return recording.expected.files
    .filter(({ kind }) => kind === 'traces')
    .map(({ file, content_type }) => {
      const raw = readFileSync(join(recording.folder, file));
      const body = file.endsWith('.gz') ? gunzipSync(raw) : raw;
      const isJson = content_type.includes('json');
      const request = (isJson ? JSON.parse(body.toString('utf8')) : traceRequest.decode(body)) as RawRequest;
      const all = (request.resourceSpans ?? []).flatMap(({ scopeSpans = [] }) => scopeSpans.flatMap(({ spans = [] }) => spans));
      const parents = new Set(all.map(({ parentSpanId }) => String(parentSpanId)));
      for (const { scopeSpans = [] } of request.resourceSpans ?? [])
        for (const one of scopeSpans) {
          const scope = one.scope?.name ?? '';
          if (!scopes.includes(scope)) scopes.push(scope);
          one.scope = { name: `acme.tracing.${scopes.indexOf(scope)}` };
          one.spans = (one.spans ?? []).flatMap((span) => [
            span,
            ...mutations.flatMap((mutation) => mutation.span(span, !parents.has(String(span.spanId))) ?? []),
          ]);
        }
      return {
        file: file.replace(/\.gz$/, ''),
        bytes: isJson ? Buffer.from(JSON.stringify(request)) : Buffer.from(traceRequest.encode(request)),
      };
    });
}

/** Places where vendors put their names. */
const PREFIX =
  /^(?:gen_ai|openinference|traceloop|llm|langfuse(?:\.observation|\.trace)?|langsmith|mlflow|ai|lmnr|gcp\.vertex\.agent|logfire|mastra|genkit|koog|fi|openlit|langtrace|pydantic_ai|crewai|haystack)\./;

export const otherPrefix: Mutation = {
  name: 'another prefix',
  span: ({ attributes = [], events = [] }) => {
    for (const list of [attributes, ...events.map((event) => event.attributes ?? [])])
      for (const one of list) one.key = one.key.replace(PREFIX, 'acme.');
  },
};

const kinds: { readonly [word: string]: string } = {
  chat: 'LLM',
  text_completion: 'LLM',
  generate_content: 'LLM',
  invoke_agent: 'AGENT',
  execute_tool: 'TOOL',
  invoke_workflow: 'CHAIN',
};

export const kindForOperation: Mutation = {
  name: 'a kind instead of an operation',
  span: ({ attributes = [] }) => {
    for (const one of attributes) {
      const kind = one.key === 'gen_ai.operation.name' ? kinds[one.value.stringValue ?? ''] : undefined;
      if (kind !== undefined) {
        one.key = 'acme.span_kind';
        one.value = { stringValue: kind };
      }
    }
  },
};

const operations: { readonly [word: string]: string } = { LLM: 'chat', AGENT: 'invoke_agent', TOOL: 'execute_tool', CHAIN: 'workflow' };

export const operationForKind: Mutation = {
  name: 'an operation instead of a kind',
  span: ({ attributes = [] }) => {
    for (const one of attributes) {
      const word = one.key === 'openinference.span.kind' ? operations[one.value.stringValue ?? ''] : undefined;
      if (word !== undefined) {
        one.key = 'acme.operation.name';
        one.value = { stringValue: word };
      }
    }
  },
};

export const camelCase: Mutation = {
  name: 'keys in camel case',
  span: ({ attributes = [] }) => {
    for (const one of attributes) one.key = one.key.replaceAll(/_([a-z])/g, (_all, letter: string) => letter.toUpperCase());
  },
};

export const underlines: Mutation = {
  name: 'underlines instead of dots',
  span: ({ attributes = [] }) => {
    for (const one of attributes) if (!/\.\d+(?:\.|$)/.test(one.key)) one.key = one.key.replaceAll('.', '_');
  },
};

export const noStatus: Mutation = {
  name: 'no status',
  span: (span) => {
    delete span.status;
  },
};

/** Lists of messages, each message's members in separate keys. */
export const flatMessages: Mutation = {
  name: 'messages in flattened lists',
  span: (span) => {
    span.attributes = (span.attributes ?? []).flatMap((one) => {
      const list = /(?:input|output)\.messages$/.test(one.key) ? parsedList(one.value.stringValue) : undefined;
      return list === undefined ? [one] : list.flatMap((message, at) => flat(`${one.key}.${at}`, message));
    });
  },
};

function flat(key: string, value: unknown): RawAttribute[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => flat(`${key}.${at}`, item));
  if (typeof value === 'object' && value !== null) return Object.entries(value).flatMap(([name, inner]) => flat(`${key}.${name}`, inner));
  return value === null || value === undefined ? [] : [{ key, value: { stringValue: String(value) } }];
}

function parsedList(text: string | undefined): readonly unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'object' && one !== null) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Messages, input and output in an event of the span. */
export const inEvents: Mutation = {
  name: 'content in an event',
  span: (span) => {
    const isContent = ({ key }: RawAttribute): boolean =>
      /(?:messages|system_instructions|input\.value|output\.value|arguments|result)$/.test(key);
    const content = (span.attributes ?? []).filter(isContent);
    if (content.length === 0) return;
    span.attributes = (span.attributes ?? []).filter((one) => !isContent(one));
    span.events = [...(span.events ?? []), { name: 'acme.content', timeUnixNano: span.startTimeUnixNano, attributes: content }];
  },
};

/** Results as the text form of a message object. */
export const reprResults: Mutation = {
  name: 'results in the text form of Python',
  span: ({ attributes = [] }) => {
    const isTool = attributes.some(({ value }) => value.stringValue === 'execute_tool' || value.stringValue === 'TOOL');
    if (!isTool) return;
    for (const one of attributes)
      if (/(?:result|output\.value)$/.test(one.key) && one.value.stringValue !== undefined)
        one.value = {
          stringValue: `content='${one.value.stringValue.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}' additional_kwargs={} response_metadata={}`,
        };
  },
};

/** A client's span inside the framework's span of a request. */
export const clientSpans: Mutation = {
  name: 'a client’s span inside each request',
  span: (span, isLeaf) => {
    const isModel = isLeaf && (span.attributes ?? []).some(({ value }) => value.stringValue === 'chat' || value.stringValue === 'LLM');
    if (!isModel) return;
    const isText = typeof span.spanId === 'string';
    const own = Buffer.isBuffer(span.spanId) ? span.spanId.toString('hex') : String(span.spanId);
    const id = `ff${own.slice(2)}`;
    return [
      {
        ...span,
        name: 'chat gpt',
        spanId: isText ? id : Buffer.from(id, 'hex'),
        parentSpanId: span.spanId,
        kind: 3,
        attributes: (span.attributes ?? []).map((one) => ({ ...one })),
        events: [],
      },
    ];
  },
};

export const renamedSpans: Mutation = {
  name: 'spans named only after the operation',
  span: (span) => {
    const [operation, ...rest] = span.name.split(' ');
    if (rest.length > 0 && /^(?:chat|invoke_agent|execute_tool)$/.test(operation ?? '')) span.name = operation ?? '';
  },
};

export const mutations: readonly (readonly Mutation[])[] = [
  [otherPrefix],
  [kindForOperation, otherPrefix],
  [operationForKind, otherPrefix],
  [kindForOperation, otherPrefix, camelCase],
  [otherPrefix, underlines],
  [noStatus, otherPrefix],
  [flatMessages, otherPrefix],
  [inEvents, otherPrefix],
  [reprResults, otherPrefix],
  [clientSpans, otherPrefix],
  [renamedSpans, kindForOperation, otherPrefix],
];

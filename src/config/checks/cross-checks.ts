/** Checks keys against one another. All checks accept parts that the schema has refused. */
import { isJsonObject, type JsonObject, jsonText, type JsonValue, member } from '../../model/json.ts';
import type { Environment } from '../document.ts';
import { scoreApis } from '../../exporters/index.ts';
import { scoreApiKeyNames } from '../../exporters/scores/score-api-backend.ts';
import { type CrossCheck, evaluatorFindings } from './cross-checks-evaluators.ts';
import { runRuleFindings } from '../entries/run-rule.ts';
import { ownBodyMembers, ownHeaders } from '../../judges/judge.ts';
import { expressionNames, knownEvaluators, missingPrices, placedEntries } from '../entries/evaluator-entry.ts';
import { questionFindings } from '../entries/queue-entry.ts';
import { alertFindings, receiverFindings } from '../entries/alert-entry.ts';
import { isLoopback, isOwn, leadsBack, signalEndpoint } from '../entries/address.ts';
import { clientTlsFindings } from '../files/tls-files.ts';
import { ownTraces } from '../entries/own-traces.ts';
import { exporterName, exportUrl, forwardFindings, nativeFindings, webhookFindings } from '../entries/exporter-entry.ts';
import { asObject, type Finding, listAt, objectAt, type Path, finding } from '../diagnostic.ts';
import { dialectFindings } from '../entries/dialect-entry.ts';
import { redactionFindings } from '../entries/redaction.ts';
import type { Draft } from '../field.ts';
import { withDefaults } from '../schema.ts';
import { exporters, type WrittenExporter } from '../sections/export.ts';
import { readSections, type WrittenDraft } from '../sections/index.ts';
import { tokenCharactersMin } from '../sections/listen.ts';

type Listen = NonNullable<WrittenDraft['listen']>;

export function crossCheck(check: CrossCheck): readonly Finding[] {
  const { value, members, env } = check;
  const written: WrittenDraft = readSections(value);
  const { listen = {}, judges = {}, alerts = [], datasets = [], queues = [], redact = [], dialects = [] } = written;
  const tokens = listen.tokens ?? [];
  const entries = placedEntries(value, members);
  const known = knownEvaluators(entries, members);
  const names = expressionNames(entries, members);
  return [
    ...listenFindings(listen, objectAt(value, 'listen')),
    ...sightFindings(tokens),
    ...orderFindings(written),
    ...memoryFindings(written.limits ?? {}),
    ...twice(tokens, ['listen', 'tokens'], 'name', 'Names of tokens are tenants: give each its own.'),
    ...twice(tokens, ['listen', 'tokens'], 'value', 'Give every token its own value.'),
    ...shortTokenFindings(listen),
    ...peopleFindings(listen.oidc?.allowed ?? []),
    ...eitherOr(listAt(value, 'redact'), 'redact', ['match', 'pattern']),
    ...redactionFindings(redact),
    ...twice(dialects, ['dialects'], 'name', 'Give every dialect a different name.'),
    ...dialectFindings(dialects),
    ...eitherOr(listAt(value, 'tools'), 'tools', ['name', 'file']),
    ...storeFindings(value, written),
    ...journalFindings(value, written),
    ...judgeRequestFindings(judges),
    ...budgetFindings(judges),
    ...Object.entries(judges).flatMap(([name, judge]) => clientTlsFindings(judge?.tls, ['judges', name], judge?.baseUrl)),
    ...evaluatorFindings(entries, written, check),
    ...exportFindings({
      raw: listAt(value, 'export').map(asObject),
      list: written.export ?? [],
      listen,
      env,
      known,
      redacts: redact.length > 0,
    }),
    ...twice(alerts, ['alerts'], 'name', 'Give every alert a different name.'),
    ...alertFindings(alerts, { evaluators: known, exporters: written.export ?? [] }),
    ...receiverFindings(written.issues ?? {}, ['issues'], { exporters: written.export ?? [] }),
    ...ownTraces(written.telemetry ?? {}, env, leadsBack(listen)).findings,
    ...twice(datasets, ['datasets'], 'name', 'Join the conditions of one dataset with or.'),
    ...runRuleFindings(datasets, { section: 'datasets', noun: 'dataset', names }),
    ...twice(queues, ['queues'], 'name', 'Give every queue a different name.'),
    ...runRuleFindings(queues, { section: 'queues', noun: 'queue', names }),
    ...questionFindings(queues, known),
  ];
}

const listeners = [
  { key: 'otlp_http', name: 'otlpHttp', permission: 'ingest', asksCertificates: true },
  { key: 'otlp_grpc', name: 'otlpGrpc', permission: 'ingest', asksCertificates: true },
  { key: 'console', name: 'console', permission: 'read', asksCertificates: false },
] as const;

/** Clients from outside need a token or a client certificate, unless the file names `insecure: true`. */
function listenFindings(listen: Listen, raw: JsonObject): readonly Finding[] {
  const findings: Finding[] = [];
  const taken = new Map<string, string>();
  for (const { key, name, permission, asksCertificates } of listeners) {
    const address = listen[name];
    if (address === undefined) continue;
    const path = ['listen', key];
    const place = `${address.host}:${address.port}`;
    const other = address.port === 0 ? undefined : taken.get(place);
    if (other !== undefined)
      findings.push(finding(path, 'value', `has the address of listen.${other}`, 'Give every listener a different address.'));
    taken.set(place, key);
    const guarded =
      listen.insecure === true ||
      (asksCertificates && listen.tls?.clientCaFile !== undefined) ||
      (listen.tokens ?? []).some(({ may = [] }) => may.includes(permission)) ||
      (key === 'console' && listen.oidc !== undefined);
    if (!isLoopback(address.host) && !guarded) {
      findings.push(
        finding(
          path,
          'value',
          `${JSON.stringify(raw[key])} is open to other machines without a token`,
          `Add a token that may ${permission} to listen.tokens, ${asksCertificates ? 'or listen.tls.client_ca_file, ' : ''}or set listen.insecure: true.`,
        ),
      );
    }
  }
  return findings;
}

/** Changes concern all tenants. */
function sightFindings(tokens: NonNullable<Listen['tokens']>): readonly Finding[] {
  return tokens.flatMap(({ sees, may = [] }, at): readonly Finding[] => {
    const changing = sees === 'own' ? may.filter((one) => one === 'annotate' || one === 'operate') : [];
    return changing.length === 0
      ? []
      : [
          finding(
            ['listen', 'tokens', at, 'sees'],
            'value',
            `own is not allowed for a token that may ${changing.join(' and ')}`,
            'Use another token for that, or leave out sees.',
          ),
        ];
  });
}

/** An entry names people in one way. */
function peopleFindings(
  allowed: readonly { readonly email?: string | undefined; readonly subject?: string | undefined }[],
): readonly Finding[] {
  return allowed.flatMap(({ email, subject }, at): readonly Finding[] =>
    (email === undefined) !== (subject === undefined)
      ? []
      : [
          finding(
            ['listen', 'oidc', 'allowed', at],
            'value',
            `names ${email === undefined ? 'no people' : 'people in two ways'}`,
            'Give either email or subject.',
          ),
        ],
  );
}

/** Protects tokens against guesses: 16 characters of base64 are 96 bits. The finding never quotes the value. */
function shortTokenFindings({ insecure, tokens = [] }: Listen): readonly Finding[] {
  if (insecure === true) return [];
  return tokens.flatMap(({ value }, index): readonly Finding[] => {
    if (value === undefined || value.length >= tokenCharactersMin) return [];
    return [
      finding(
        ['listen', 'tokens', index, 'value'],
        'value',
        `is shorter than ${tokenCharactersMin} characters`,
        'Make one with `openssl rand -base64 24`, or set listen.insecure: true if no one else can reach the listeners.',
      ),
    ];
  });
}

/** Segments hold whole requests, and the journal needs several of them. */
const journalBodies = 8;
const bodyBytesMax = 1024 ** 3;

function schemeOf(value: JsonObject, section: 'journal' | 'store'): string {
  const url = member(objectAt(value, section), 'url');
  return typeof url === 'string' ? url.slice(0, Math.max(0, url.indexOf(':'))) : '';
}

function storeFindings(value: JsonObject, { store }: WrittenDraft): readonly Finding[] {
  if (store?.url !== undefined || typeof member(objectAt(value, 'store'), 'url') !== 'string') return [];
  return [
    finding(
      ['store', 'url'],
      'value',
      'is not a store',
      'Write sqlite: and the path of a file, as in sqlite:./tracejury-data/tracejury.db, postgres://user:password@host:5432/database, or memory: to lose all runs when the process ends.',
    ),
  ];
}

function journalFindings(value: JsonObject, { journal, limits }: WrittenDraft): readonly Finding[] {
  const named =
    journal?.url !== undefined || typeof member(objectAt(value, 'journal'), 'url') !== 'string'
      ? []
      : [
          finding(
            ['journal', 'url'],
            'value',
            'is not a journal',
            'Write disk: and the path of a folder, as in disk:./tracejury-data/journal, kafka://host:9092/topic, or memory: to lose open runs when the process dies.',
          ),
        ];
  // The store has how far the topic is read.
  if (schemeOf(value, 'journal') === 'kafka')
    return schemeOf(value, 'store') === 'memory'
      ? [
          ...named,
          finding(
            ['store', 'url'],
            'value',
            'forgets how far a journal in Kafka is read',
            'Write postgres://user:password@host:5432/database, or sqlite: and a file for one replica.',
          ),
        ]
      : named;
  const { bodyBytes: body, journalBytes: bytes } = limits ?? {};
  // A body beyond its bound has its own fault.
  if (body === undefined || bytes === undefined || body > bodyBytesMax || bytes >= body * journalBodies) return named;
  return [
    ...named,
    finding(
      ['limits', 'journal_bytes'],
      'value',
      `is less than ${journalBodies} times limits.body_bytes`,
      'Raise it, or lower limits.body_bytes.',
    ),
  ];
}

/** Refuses headers and members that the client sets itself. */
function judgeRequestFindings(judges: NonNullable<WrittenDraft['judges']>): readonly Finding[] {
  return Object.entries(judges).flatMap(([name, judge = {}]): readonly Finding[] => {
    const path = ['judges', name];
    const twice = judge.answerTokens !== undefined && judge.maxOutputTokens !== undefined;
    const others: { readonly [key: string]: string } = {
      temperature: 'temperature',
      reasoning_effort: 'reasoning_effort',
      response_format: 'answer_format',
      max_tokens: 'max_output_tokens',
      max_completion_tokens: 'max_output_tokens',
      model: 'model',
    };
    return [
      ...(twice ? [finding([...path, 'max_output_tokens'], 'key', 'has the same meaning as answer_tokens', 'Keep one of the two.')] : []),
      ...Object.keys(judge.headers ?? {}).flatMap((header): readonly Finding[] =>
        ownHeaders.has(header.toLowerCase())
          ? [
              finding(
                [...path, 'headers', header],
                'key',
                'is a header that tracejury sets itself',
                header.toLowerCase() === 'authorization' ? 'Give the key under api_key.' : 'Leave it out.',
              ),
            ]
          : [],
      ),
      ...Object.keys(judge.extraBody ?? {}).flatMap((key): readonly Finding[] =>
        (ownBodyMembers as readonly string[]).includes(key)
          ? [
              finding(
                [...path, 'extra_body', key],
                'key',
                'is set by tracejury for every question',
                others[key] === undefined ? 'Leave it out.' : `Write ${others[key]} beside extra_body.`,
              ),
            ]
          : [],
      ),
    ];
  });
}

/** Tokens without a price cost nothing, so a budget in money would have no effect. */
function budgetFindings(judges: NonNullable<WrittenDraft['judges']>): readonly Finding[] {
  return Object.entries(judges).flatMap(([name, judge = {}]): readonly Finding[] => {
    if (judge.budget?.usdPerDay === undefined) return [];
    const missing = missingPrices(judge);
    return missing.length === 0
      ? []
      : [
          finding(
            ['judges', name, 'budget'],
            'key',
            `lacks the price that it counts with: ${missing.join(' and ')}`,
            `Add ${missing.map((key) => `price.${key}`).join(' and ')}; 0 for tokens that cost nothing.`,
          ),
        ];
  });
}

/** Each amount is at least as large as the one before it. */
function orderFindings({ limits = {}, closing = {}, sessions = {} }: WrittenDraft): readonly Finding[] {
  const orders: readonly (readonly [section: string, amounts: readonly (readonly [key: string, amount: number | undefined])[]])[] = [
    [
      'limits',
      [
        ['body_bytes', limits.bodyBytes],
        ['inflated_bytes', limits.inflatedBytes],
        ['memory_bytes', limits.memoryBytes],
      ],
    ],
    [
      'closing',
      [
        ['settle', closing.settleMs],
        ['quiet', closing.quietMs],
        ['abandon', closing.abandonMs],
      ],
    ],
    [
      'sessions',
      [
        ['quiet', sessions.quietMs],
        ['latest', sessions.latestMs],
      ],
    ],
    [
      'sessions',
      [
        ['quiet', sessions.quietMs],
        ['keep', sessions.keepMs],
      ],
    ],
  ];
  return orders.flatMap(([section, amounts]) =>
    amounts.slice(1).flatMap(([key, high], index): readonly Finding[] => {
      const [smaller, low] = amounts[index] ?? [];
      if (low === undefined || high === undefined || low <= high) return [];
      return [finding([section, key], 'value', `is less than ${section}.${smaller}`, `Raise it, or lower ${section}.${smaller}.`)];
    }),
  );
}

/** A request needs room for its body and the inflated body, and open traces need room beside it. */
function memoryFindings({
  bodyBytes: body,
  inflatedBytes: inflated,
  memoryBytes: memory,
}: NonNullable<WrittenDraft['limits']>): readonly Finding[] {
  if (body === undefined || inflated === undefined || memory === undefined || body + inflated <= memory / 2) return [];
  return [
    finding(
      ['limits', 'memory_bytes'],
      'value',
      'is less than twice the sum of limits.body_bytes and limits.inflated_bytes',
      'Raise it, or lower the other two.',
    ),
  ];
}

/** Finds items with the same text under a key. The message does not quote the text, which may be a secret. */
function twice<Key extends 'name' | 'value'>(
  list: readonly { readonly [key in Key]?: string | undefined }[],
  path: Path,
  key: Key,
  todo: string,
): readonly Finding[] {
  const seen = new Map<string, number>();
  return list.flatMap((item, index): readonly Finding[] => {
    const text = item[key];
    const before = text === undefined ? undefined : seen.get(text);
    if (text !== undefined && before === undefined) seen.set(text, index);
    return before === undefined ? [] : [finding([...path, index, key], 'value', `is the same as that of entry ${before + 1}`, todo)];
  });
}

function eitherOr(list: readonly JsonValue[], section: string, keys: readonly [string, string]): readonly Finding[] {
  return list.flatMap((item, index): readonly Finding[] => {
    const count = isJsonObject(item) ? keys.filter((key) => Object.hasOwn(item, key)).length : 1;
    return count === 1
      ? []
      : [
          finding(
            [section, index],
            'value',
            count === 0 ? `has neither ${keys[0]} nor ${keys[1]}` : `has both ${keys[0]} and ${keys[1]}`,
            'Write one of the two.',
          ),
        ];
  });
}

interface Exports {
  /** The entries of the file with all defaults. */
  readonly raw: readonly JsonObject[];
  readonly list: readonly Draft<WrittenExporter>[];
  readonly listen: Listen;
  readonly env: Environment;
  readonly known: ReturnType<typeof knownEvaluators>;
  /** `true` with rules of `redact`. */
  readonly redacts: boolean;
}

/** Keys that only one destination reads. */
const readers = [
  {
    keys: ['secret', 'body', 'only', 'per_minute', 'private_addresses', 'link'],
    of: ['webhook'],
    todo: 'Leave it out: only webhook has it.',
  },
  { keys: ['hold', 'compression'], of: ['forward', 'metrics'], todo: 'Leave it out: only forward holds spans.' },
  { keys: ['detail'], of: ['span_events'], todo: 'Leave it out: only span_events has it.' },
] as const;
const presets = asObject(withDefaults(asObject(exporters.schema['items']), {}));

function exportFindings({ raw, list, listen, env, known, redacts }: Exports): readonly Finding[] {
  return list.flatMap((entry, index): readonly Finding[] => {
    const [path, own, { to }, name] = [['export', index], raw[index] ?? {}, entry, exporterName(entry)];
    const namesake = to === 'metrics' ? index : list.findIndex((other) => exporterName(other) === name);
    if (namesake < index)
      return [
        finding(
          member(own, 'name') === undefined ? path : [...path, 'name'],
          'value',
          `has the name of entry ${namesake + 1}, ${name}`,
          'Give it its own name, the key of its rows in the store.',
        ),
      ];
    const surplus = (keys: readonly string[], todo: string, problem = `has no effect for ${to ?? ''}`): readonly Finding[] =>
      keys.filter((key) => isGiven(own, key)).map((key) => finding([...path, key], 'key', problem, todo));
    const first = [
      ...readers.flatMap(({ keys, of, todo }) => (of.some((one) => one === to) ? [] : surplus(keys, todo))),
      ...clientTlsFindings(entry.tls, path, exportUrl(own, env)),
    ];
    if (first.length > 0) return first;
    const backend = scoreApis.find(({ id }) => id === to);
    if (backend !== undefined)
      return [...surplus(['interval', 'temporality', 'judge_calls'], 'Leave it out.'), ...nativeFindings(backend, own, path, env)];
    if (to === 'metrics') {
      if (list.findIndex((other) => other.to === 'metrics') < index) return [finding(path, 'value', 'is there twice', 'Keep one entry.')];
      const url = signalEndpoint('metrics', entry.endpoint, env);
      return [
        ...surplus(
          [...scoreApiKeyNames, 'name', 'give_up', 'protocol', 'judge_calls', 'hold', 'compression'],
          'Leave it out: the page is on the console listener.',
        ),
        ...(url === undefined
          ? surplus(
              ['headers', 'interval', 'temporality', 'tls'],
              'Leave it out, or name the backend for metrics.',
              'has no effect without endpoint',
            )
          : isOwn(url, listen)
            ? [finding([...path, 'endpoint'], 'value', 'leads back to listen.otlp_http', 'Name the metrics backend.')]
            : []),
      ];
    }
    const foreign = surplus(scoreApiKeyNames, 'Give keys under headers.');
    if (foreign.length > 0) return foreign;
    if (to === 'webhook')
      return [...surplus(['interval', 'temporality', 'judge_calls', 'protocol'], 'Leave it out.'), ...webhookFindings(entry, path, known)];
    if (to !== 'span_events' && to !== 'log_events' && to !== 'forward') return [];
    const others = [
      ...surplus(['interval', 'temporality'], 'Leave it out: the exporter sends scores at once.'),
      ...(to === 'span_events' ? [] : surplus(['judge_calls'], 'Leave it out: only span_events sends them.')),
      ...(to === 'forward' ? forwardFindings(list, index, redacts) : []),
    ];
    if (others.length > 0) return others;
    const url = signalEndpoint(to === 'log_events' ? 'logs' : 'traces', entry.endpoint, env);
    if (url === undefined)
      return [finding(path, 'value', 'lacks endpoint', 'Add the base URL of the backend, or set OTEL_EXPORTER_OTLP_ENDPOINT.')];
    const [key, listener] = entry.protocol === 'grpc' ? (['otlpGrpc', 'otlp_grpc'] as const) : (['otlpHttp', 'otlp_http'] as const);
    return isOwn(url, listen, key)
      ? [
          finding(
            [...path, 'endpoint'],
            'value',
            `leads back to listen.${listener}`,
            `Name the ${to === 'log_events' ? 'logs' : 'tracing'} backend that shows the scores.`,
          ),
        ]
      : [];
  });
}

/** Entries have all defaults here, so a default does not count as given. */
function isGiven(entry: JsonObject, key: string): boolean {
  const value = member(entry, key);
  return value !== undefined && jsonText(value) !== jsonText(member(presets, key) ?? null);
}

/** Checks keys against one another. All checks accept parts that the schema has refused. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Environment } from '../document.ts';
import { quantityOf, type QuantityKind } from '../../model/quantities.ts';
import { scoreApis } from '../../exporters/index.ts';
import { scoreApiKeyNames } from '../../exporters/scores/score-api-backend.ts';
import { type CrossCheck, evaluatorFindings } from './cross-checks-evaluators.ts';
import { runRuleFindings } from '../entries/run-rule.ts';
import { journalAddress } from '../../journals/index.ts';
import { ownBodyMembers, ownHeaders } from '../../judges/judge.ts';
import { storeAddress } from '../../stores/index.ts';
import { expressionNames, knownEvaluators, missingPrices } from '../entries/evaluator-entry.ts';
import { questionFindings } from '../entries/queue-entry.ts';
import { alertFindings } from '../entries/alert-entry.ts';
import { addressOf, isLoopback, isOwn, leadsBack, signalEndpoint } from '../entries/address.ts';
import { clientTlsFindings } from '../files/tls-files.ts';
import { ownTraces } from '../entries/own-traces.ts';
import { exporterName, exportUrl, forwardFindings, nativeFindings, webhookFindings, webhookKeys } from '../entries/exporter-entry.ts';
import { asObject, type Finding, listAt, objectAt, type Path, finding } from '../diagnostic.ts';
import { dialectFindings } from '../entries/dialect-entry.ts';
import { redactionFindings } from '../entries/redaction.ts';
import { giveUpDefaults, pushDefaults, webhookDefaults } from '../sections/export.ts';
import { tokenCharactersMin } from '../sections/listen.ts';

export function crossCheck(check: CrossCheck): readonly Finding[] {
  const { value } = check;
  const known = knownEvaluators(value, check.members);
  return [
    ...listenFindings(objectAt(value, 'listen')),
    ...sightFindings(listAt(objectAt(value, 'listen'), 'tokens')),
    ...orderFindings(value),
    ...memoryFindings(objectAt(value, 'limits')),
    ...twice(listAt(objectAt(value, 'listen'), 'tokens'), ['listen', 'tokens'], 'name', 'Names of tokens are tenants: give each its own.'),
    ...twice(listAt(objectAt(value, 'listen'), 'tokens'), ['listen', 'tokens'], 'value', 'Give every token its own value.'),
    ...shortTokenFindings(objectAt(value, 'listen')),
    ...peopleFindings(objectAt(objectAt(value, 'listen'), 'oidc')),
    ...eitherOr(listAt(value, 'redact'), 'redact', ['match', 'pattern']),
    ...redactionFindings(listAt(value, 'redact')),
    ...twice(listAt(value, 'dialects'), ['dialects'], 'name', 'Give every dialect a name of its own.'),
    ...dialectFindings(listAt(value, 'dialects')),
    ...eitherOr(listAt(value, 'tools'), 'tools', ['name', 'file']),
    ...storeFindings(objectAt(value, 'store')),
    ...journalFindings(value),
    ...judgeRequestFindings(objectAt(value, 'judges')),
    ...budgetFindings(objectAt(value, 'judges')),
    ...Object.entries(objectAt(value, 'judges')).flatMap(([name, judge]) =>
      clientTlsFindings(asObject(judge), ['judges', name], member(asObject(judge), 'base_url')),
    ),
    ...evaluatorFindings(check),
    ...exportFindings(check),
    ...twice(listAt(value, 'alerts'), ['alerts'], 'name', 'Give every alert a name of its own.'),
    ...alertFindings(listAt(value, 'alerts'), {
      evaluators: known,
      exporters: listAt(value, 'export'),
    }),
    ...ownTraces(value, check.env, leadsBack(value)).findings,
    ...shardFindings(value, check.env),
    ...twice(listAt(value, 'datasets'), ['datasets'], 'name', 'Join the conditions of one dataset with or.'),
    ...runRuleFindings(value, { section: 'datasets', noun: 'dataset', names: expressionNames(value, check.members) }),
    ...twice(listAt(value, 'queues'), ['queues'], 'name', 'Give every queue a name of its own.'),
    ...runRuleFindings(value, { section: 'queues', noun: 'queue', names: expressionNames(value, check.members) }),
    ...questionFindings(value, known),
  ];
}

/** Finds settings that need one thread for all spans. */
function shardFindings(value: JsonObject, env: Environment): readonly Finding[] {
  const shards = member(value, 'shards');
  if (typeof shards !== 'number' || shards <= 1) return [];
  const has = (section: string, key: string, word: string): boolean =>
    listAt(value, section).some((entry) => member(asObject(entry), key) === word);
  const alone = [
    ...(Object.keys(objectAt(value, 'judges')).length > 0 ? ['judges'] : []),
    ...(has('evaluators', 'use', 'http') ? ['evaluators over HTTP'] : []),
    ...(schemeOf(value, 'journal') === 'kafka' ? ['a journal in Kafka'] : []),
    ...(has('export', 'to', 'forward') ? ['export to forward'] : []),
    ...(ownTraces(value, env, leadsBack(value)).traces === undefined ? [] : ['traces of the service itself']),
  ];
  return alone.map((what) => finding(['shards'], 'value', `above 1 does not go with ${what}`, `Write shards: 1, or leave out ${what}.`));
}

const listeners = [
  { key: 'otlp_http', permission: 'ingest', asksCertificates: true },
  { key: 'otlp_grpc', permission: 'ingest', asksCertificates: true },
  { key: 'console', permission: 'read', asksCertificates: false },
] as const;

/** Clients from outside need a token or a client certificate, unless the file names `insecure: true`. */
function listenFindings(listen: JsonObject): readonly Finding[] {
  const findings: Finding[] = [];
  const taken = new Map<string, string>();
  for (const { key, permission, asksCertificates } of listeners) {
    const written = member(listen, key);
    const address = typeof written === 'string' ? addressOf(written) : undefined;
    if (address === undefined) continue;
    const path = ['listen', key];
    const name = `${address.host}:${address.port}`;
    const other = address.port === 0 ? undefined : taken.get(name);
    if (other !== undefined)
      findings.push(finding(path, 'value', `has the address of listen.${other}`, 'Give every listener an address of its own.'));
    taken.set(name, key);
    const guarded =
      member(listen, 'insecure') === true ||
      (asksCertificates && member(objectAt(listen, 'tls'), 'client_ca_file') !== undefined) ||
      allows(listen, permission) ||
      (key === 'console' && member(listen, 'oidc') !== undefined);
    if (!isLoopback(address.host) && !guarded) {
      findings.push(
        finding(
          path,
          'value',
          `${JSON.stringify(written)} is open to other machines without a token`,
          `Add a token that may ${permission} to listen.tokens, ${asksCertificates ? 'or listen.tls.client_ca_file, ' : ''}or set listen.insecure: true.`,
        ),
      );
    }
  }
  return findings;
}

/** Changes concern all tenants. */
function sightFindings(tokens: readonly JsonValue[]): readonly Finding[] {
  return tokens.flatMap((written, at): readonly Finding[] => {
    const token = asObject(written);
    const changing = member(token, 'sees') === 'own' ? listAt(token, 'may').filter((one) => one === 'annotate' || one === 'operate') : [];
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
function peopleFindings(oidc: JsonObject): readonly Finding[] {
  return listAt(oidc, 'allowed').flatMap((entry, at): readonly Finding[] => {
    const named = ['email', 'subject'].filter((key) => member(asObject(entry), key) !== undefined);
    return named.length === 1
      ? []
      : [
          finding(
            ['listen', 'oidc', 'allowed', at],
            'value',
            `names ${named.length === 0 ? 'nobody' : 'people in two ways'}`,
            'Give either email or subject.',
          ),
        ];
  });
}

/** Protects tokens against guesses: 16 characters of base64 are 96 bits. The finding never quotes the value. */
function shortTokenFindings(listen: JsonObject): readonly Finding[] {
  if (member(listen, 'insecure') === true) return [];
  return listAt(listen, 'tokens').flatMap((token, index): readonly Finding[] => {
    const text = isJsonObject(token) ? member(token, 'value') : undefined;
    if (typeof text !== 'string' || text.length >= tokenCharactersMin) return [];
    return [
      finding(
        ['listen', 'tokens', index, 'value'],
        'value',
        `is shorter than ${tokenCharactersMin} characters`,
        'Make one with `openssl rand -base64 24`, or set listen.insecure: true if nobody else reaches the listeners.',
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

/** The store has how far the topic is read. */
function kafkaFindings(value: JsonObject): readonly Finding[] {
  if (schemeOf(value, 'store') !== 'memory') return [];
  return [
    finding(
      ['store', 'url'],
      'value',
      'forgets how far a journal in Kafka is read',
      'Write postgres://user:password@host:5432/database, or sqlite: and a file for one replica.',
    ),
  ];
}

function journalFindings(value: JsonObject): readonly Finding[] {
  const url = member(objectAt(value, 'journal'), 'url');
  const named =
    typeof url !== 'string' || journalAddress(url) !== undefined
      ? []
      : [
          finding(
            ['journal', 'url'],
            'value',
            'is not a journal',
            'Write disk: and the path of a folder, as in disk:./tracejury-data/journal, kafka://host:9092/topic, or memory: to lose open runs when the process dies.',
          ),
        ];
  if (schemeOf(value, 'journal') === 'kafka') return [...named, ...kafkaFindings(value)];
  const limits = objectAt(value, 'limits');
  const [body, journal] = [quantityOf('bytes', member(limits, 'body_bytes')), quantityOf('bytes', member(limits, 'journal_bytes'))];
  // A body beyond its bound has its own fault.
  if (body === undefined || journal === undefined || body > bodyBytesMax || journal >= body * journalBodies) return named;
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

function storeFindings(store: JsonObject): readonly Finding[] {
  const url = member(store, 'url');
  if (typeof url !== 'string' || storeAddress(url) !== undefined) return [];
  return [
    finding(
      ['store', 'url'],
      'value',
      'is not a store',
      'Write sqlite: and the path of a file, as in sqlite:./tracejury-data/tracejury.db, postgres://user:password@host:5432/database, or memory: to lose all runs when the process ends.',
    ),
  ];
}

/** Refuses headers and members that the client sets itself. */
function judgeRequestFindings(judges: JsonObject): readonly Finding[] {
  return Object.entries(judges).flatMap(([name, judge]): readonly Finding[] => {
    if (!isJsonObject(judge)) return [];
    const path = ['judges', name];
    const twice = member(judge, 'answer_tokens') !== undefined && member(judge, 'max_output_tokens') !== undefined;
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
      ...Object.keys(objectAt(judge, 'headers')).flatMap((header): readonly Finding[] =>
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
      ...Object.keys(objectAt(judge, 'extra_body')).flatMap((key): readonly Finding[] =>
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
function budgetFindings(judges: JsonObject): readonly Finding[] {
  return Object.entries(judges).flatMap(([name, judge]): readonly Finding[] => {
    if (!isJsonObject(judge) || member(objectAt(judge, 'budget'), 'usd_per_day') === undefined) return [];
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

function allows(listen: JsonObject, permission: string): boolean {
  return listAt(listen, 'tokens').some((token) => {
    const may = isJsonObject(token) ? member(token, 'may') : undefined;
    return isJsonArray(may) && may.includes(permission);
  });
}

/** Each key is at least as large as the one before it. */
const orders: readonly { readonly section: string; readonly kind: QuantityKind; readonly keys: readonly string[] }[] = [
  { section: 'limits', kind: 'bytes', keys: ['body_bytes', 'inflated_bytes', 'memory_bytes'] },
  { section: 'closing', kind: 'duration', keys: ['settle', 'quiet', 'abandon'] },
  { section: 'sessions', kind: 'duration', keys: ['quiet', 'latest'] },
  { section: 'sessions', kind: 'duration', keys: ['quiet', 'keep'] },
];

function orderFindings(value: JsonObject): readonly Finding[] {
  return orders.flatMap(({ section, kind, keys }) =>
    keys.slice(1).flatMap((key, index): readonly Finding[] => {
      const smaller = keys[index] ?? '';
      const [low, high] = [
        quantityOf(kind, member(objectAt(value, section), smaller)),
        quantityOf(kind, member(objectAt(value, section), key)),
      ];
      if (low === undefined || high === undefined || low <= high) return [];
      return [finding([section, key], 'value', `is less than ${section}.${smaller}`, `Raise it, or lower ${section}.${smaller}.`)];
    }),
  );
}

/** A request needs room for its body and the inflated body, and open traces need room beside it. */
function memoryFindings(limits: JsonObject): readonly Finding[] {
  const [body, inflated, memory] = (['body_bytes', 'inflated_bytes', 'memory_bytes'] as const).map((key) =>
    quantityOf('bytes', member(limits, key)),
  );
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
function twice(list: readonly JsonValue[], path: Path, key: string, todo: string): readonly Finding[] {
  const seen = new Map<JsonValue, number>();
  return list.flatMap((item, index): readonly Finding[] => {
    const text = isJsonObject(item) ? member(item, key) : undefined;
    const before = typeof text === 'string' ? seen.get(text) : undefined;
    if (typeof text === 'string' && before === undefined) seen.set(text, index);
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

function exportFindings({ value, members, env }: CrossCheck): readonly Finding[] {
  const list = listAt(value, 'export').map((item) => (isJsonObject(item) ? item : {}));
  return list.flatMap((item, index): readonly Finding[] => {
    const path = ['export', index];
    const to = member(item, 'to');
    const namesake = to === 'metrics' ? index : list.findIndex((other) => exporterName(other) === exporterName(item));
    if (namesake < index)
      return [
        finding(
          isGiven(item, 'name') ? [...path, 'name'] : path,
          'value',
          `has the name of entry ${namesake + 1}, ${exporterName(item)}`,
          'Give it its own name, the key of its rows in the store.',
        ),
      ];
    const surplus = (keys: readonly string[], todo = 'Leave it out.'): readonly Finding[] =>
      surplusFindings(item, path, keys, `has no effect for ${exporterName({ to: to ?? null })}`, todo);
    const first = [
      ...(to === 'webhook' ? [] : surplus(webhookKeys, 'Leave it out: only webhook has it.')),
      ...(to === 'forward' || to === 'metrics' ? [] : surplus(['hold', 'compression'], 'Leave it out: only forward holds spans.')),
      ...(to === 'span_events' ? [] : surplus(['detail'], 'Leave it out: only span_events has it.')),
      ...clientTlsFindings(item, path, exportUrl(item, env)),
    ];
    if (first.length > 0) return first;
    if (to === 'metrics') return metricsFindings({ list, item, index, value, env });
    const backend = scoreApis.find(({ id }) => id === to);
    if (backend !== undefined)
      return [...surplus(['interval', 'temporality', 'judge_calls']), ...nativeFindings({ backend, entry: item, path, env })];
    const foreign = surplus(scoreApiKeyNames, 'Give keys under headers.');
    if (foreign.length > 0) return foreign;
    if (to === 'webhook')
      return [
        ...surplus(['interval', 'temporality', 'judge_calls', 'protocol']),
        ...webhookFindings(item, path, knownEvaluators(value, members)),
      ];
    if (to !== 'span_events' && to !== 'log_events' && to !== 'forward') return [];
    const others = [
      ...surplus(['interval', 'temporality'], 'Leave it out: the exporter sends scores at once.'),
      ...(to === 'span_events' ? [] : surplus(['judge_calls'], 'Leave it out: only span_events sends them.')),
      ...(to === 'forward' ? forwardFindings({ value, list, item, index }) : []),
    ];
    const url = signalEndpoint(to === 'log_events' ? 'logs' : 'traces', member(item, 'endpoint'), env);
    if (others.length > 0) return others;
    if (url === undefined)
      return [finding(path, 'value', 'lacks endpoint', 'Add the base URL of the backend, or set OTEL_EXPORTER_OTLP_ENDPOINT.')];
    const own = member(item, 'protocol') === 'grpc' ? 'otlp_grpc' : 'otlp_http';
    return isOwn(url, objectAt(value, 'listen'), own)
      ? [
          finding(
            [...path, 'endpoint'],
            'value',
            `leads back to listen.${own}`,
            `Name the ${to === 'log_events' ? 'logs' : 'tracing'} backend that shows the scores.`,
          ),
        ]
      : [];
  });
}

function metricsFindings({ list, item, index, value, env }: CrossCheckOf): readonly Finding[] {
  const path = ['export', index];
  if (list.findIndex((other) => member(other, 'to') === 'metrics') < index)
    return [finding(path, 'value', 'is there twice', 'Keep one entry.')];
  const url = signalEndpoint('metrics', member(item, 'endpoint'), env);
  const always = surplusFindings(
    item,
    path,
    [...scoreApiKeyNames, 'name', 'give_up', 'protocol', 'judge_calls', 'hold', 'compression'],
    'has no effect for metrics',
    'Leave it out: the page is on the console listener.',
  );
  if (url === undefined)
    return [
      ...always,
      ...surplusFindings(
        item,
        path,
        ['headers', 'interval', 'temporality', 'tls'],
        'has no effect without endpoint',
        'Leave it out, or name the backend for metrics.',
      ),
    ];
  return isOwn(url, objectAt(value, 'listen'))
    ? [...always, finding([...path, 'endpoint'], 'value', 'leads back to listen.otlp_http', 'Name the metrics backend.')]
    : always;
}

function surplusFindings(item: JsonObject, path: Path, keys: readonly string[], problem: string, todo: string): readonly Finding[] {
  return keys.filter((key) => isGiven(item, key)).map((key) => finding([...path, key], 'key', problem, todo));
}

interface CrossCheckOf extends Pick<CrossCheck, 'value' | 'env'> {
  readonly list: readonly JsonObject[];
  readonly item: JsonObject;
  readonly index: number;
}

const presets: { readonly [key: string]: JsonValue } = {
  protocol: 'http/protobuf',
  judge_calls: true,
  body: 'json',
  per_minute: webhookDefaults.per_minute,
  private_addresses: false,
  ...pushDefaults,
};

const presetOnly = JSON.stringify({ verdicts: webhookDefaults.verdicts, labels: [], evaluators: [], agents: [] });

/** Entries have all defaults here, so a default does not count as given. */
function isGiven(item: JsonObject, key: string): boolean {
  const value = member(item, key);
  if (key === 'headers') return isJsonObject(value) && Object.keys(value).length > 0;
  if (key === 'only') return isJsonObject(value) && JSON.stringify(value) !== presetOnly && Object.keys(value).length > 0;
  if (key === 'give_up')
    return isJsonObject(value) && Object.entries(giveUpDefaults).some(([name, preset]) => (member(value, name) ?? preset) !== preset);
  const preset = Object.hasOwn(presets, key) ? presets[key] : undefined;
  return value !== undefined && value !== preset;
}

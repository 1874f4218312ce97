/**
 * Detects services whose spans cannot become runs, because no collector reads an agent, model call or tool call in them. Reports each
 * service and scope once, with the names and attributes of its spans.
 */
import { collectorsInForce, takesEvent, type Collector } from '../../../collectors/collector.ts';
import { wire } from '../../model/attributes.ts';
import type { Clock } from '../../model/clock.ts';
import { identityText } from '../../model/identity-text.ts';
import type { Tenant } from '../../model/ids.ts';
import { inTurns } from '../../model/shares.ts';
import { textAttribute, type LogRecord, type Resource, type Span } from '../../model/span.ts';
import { spanReadingOf, type SpanReading } from '../assembly/span-facts.ts';

export interface Unrecognised {
  readonly tenant: Tenant;
  readonly service: string;
  readonly scope: string;
  /** Number of spans read. */
  readonly spans: number;
  readonly names: readonly string[];
  readonly keys: readonly string[];
  /** Collectors that recognise the spans but find no agent, model call or tool call. */
  readonly dialects: readonly string[];
}

export interface UnrecognisedNotice extends Unrecognised {
  readonly missing: string;
  readonly todo: string;
}

export interface Recognised {
  readonly service: string;
  readonly scope: string;
  readonly dialects: readonly string[];
}

export interface Recognition {
  /** Returns the services that are recognised for the first time. */
  spans(tenant: Tenant, spans: readonly Span[]): readonly Recognised[];
  /** Records may be the only carriers of messages. */
  records(tenant: Tenant, records: readonly LogRecord[]): void;
  /** Unrecognised scopes that are new since the last call. */
  due(): readonly Unrecognised[];
  /** `true` while a scope may become due. */
  isWaiting(): boolean;
  /** All reported unrecognised scopes, one of each tenant in turn. */
  reported(): readonly Unrecognised[];
}

/** An agent's span ends last, in a later batch than its calls: exporters send every five seconds. */
export const waitMs = 8_000;
/** Limit of services of one tenant; later ones get no report. */
export const servicesMax = 1_000;
const scopesMax = 20;
/** Limit of spans per unrecognised service. */
const spansReadMax = 2_000;
const namesMax = 5;
const keysMax = 20;
const charsMax = 100;

const roles: ReadonlySet<string | undefined> = new Set(['agent', 'workflow', 'model', 'tool', 'retriever']);

interface ScopeRead {
  readonly firstMs: number;
  readonly names: Set<string>;
  readonly keys: Set<string>;
  readonly dialects: Set<string>;
  spans: number;
  isReported: boolean;
}

interface Service {
  readonly tenant: Tenant;
  readonly name: string;
  readonly scopes: Map<string, ScopeRead>;
  spansRead: number;
}

const noDialects: readonly Collector[] = [];

export interface RecognitionOptions {
  readonly collectors: readonly Collector[];
  /** Collectors from the configuration. Default: none. */
  readonly dialects?: () => readonly Collector[];
  readonly clock: Clock;
}

export function recognition(options: RecognitionOptions): Recognition {
  const { clock, dialects: own = () => noDialects } = options;
  const collectors = collectorsInForce(own, options.collectors);
  const services = new Map<string, Service | 'recognised'>();
  /** Their number by tenant. */
  const known = new Map<Tenant, number>();
  const none = new Map<never, never>();

  /** Ignores a span that fails in a collector: its trace counts it at the close. */
  function readingOf(span: Span): Pick<SpanReading, 'facts' | 'dialects'> {
    try {
      return spanReadingOf({ collectors: collectors(), records: none }, span);
    } catch {
      return { facts: {}, dialects: [] };
    }
  }

  function readInto(service: Service, span: Span): Recognised | undefined {
    service.spansRead++;
    const { facts, dialects } = readingOf(span);
    if (roles.has(facts.role)) return { service: service.name, scope: plain(span.scope.name), dialects };
    const name = plain(span.scope.name);
    const seen = service.scopes.get(name) ?? {
      firstMs: clock.nowMs(),
      names: new Set(),
      keys: new Set(),
      dialects: new Set(),
      spans: 0,
      isReported: false,
    };
    if (!service.scopes.has(name) && service.scopes.size >= scopesMax) return undefined;
    service.scopes.set(name, seen);
    seen.spans++;
    if (seen.names.size < namesMax) seen.names.add(plain(span.name));
    for (const key of span.attributeKeys().slice(0, keysMax)) if (seen.keys.size < keysMax) seen.keys.add(plain(key));
    for (const id of dialects) seen.dialects.add(id);
    return undefined;
  }

  function rows(wanted: (seen: ScopeRead) => boolean): readonly Unrecognised[] {
    return [...services.values()].flatMap((service) =>
      service === 'recognised'
        ? []
        : [...service.scopes]
            .filter(([, seen]) => wanted(seen))
            .map(([scope, { spans, names, keys, dialects }]) => ({
              tenant: service.tenant,
              service: service.name,
              scope,
              spans,
              names: [...names],
              keys: [...keys],
              dialects: [...dialects],
            })),
    );
  }

  /** `undefined` when the service is recognised or beyond the limit. */
  function serviceOf(tenant: Tenant, resource: Resource): { readonly key: string; readonly service: Service } | undefined {
    const name = identityText(textAttribute(resource, wire.serviceName) ?? '');
    const key = JSON.stringify([tenant, name]);
    const before = services.get(key);
    const others = known.get(tenant) ?? 0;
    if (before === 'recognised' || (before === undefined && others >= servicesMax)) return undefined;
    const service = before ?? { tenant, name: plain(name), scopes: new Map(), spansRead: 0 };
    if (before === undefined) known.set(tenant, others + 1);
    services.set(key, service);
    return service.spansRead < spansReadMax ? { key, service } : undefined;
  }

  return {
    spans(tenant, spans) {
      const found: Recognised[] = [];
      // Spans of one request share their resource, so the service is looked up once.
      let last: Resource | undefined;
      let at: ReturnType<typeof serviceOf>;
      for (const span of spans) {
        if (span.resource !== last) at = serviceOf(tenant, (last = span.resource));
        if (at === undefined) continue;
        const own = readInto(at.service, span);
        if (own === undefined) {
          if (at.service.spansRead >= spansReadMax) at = undefined;
          continue;
        }
        services.set(at.key, 'recognised');
        at = undefined;
        found.push(own);
      }
      return found;
    },
    records(tenant, records) {
      for (const record of records) {
        if (!collectors().some((collector) => takesEvent(collector, record.eventName))) continue;
        const at = serviceOf(tenant, record.resource);
        if (at !== undefined) services.set(at.key, 'recognised');
      }
    },
    due() {
      const before = clock.nowMs() - waitMs;
      const fresh = rows((seen) => !seen.isReported && seen.firstMs <= before);
      for (const service of services.values())
        if (service !== 'recognised') for (const seen of service.scopes.values()) if (seen.firstMs <= before) seen.isReported = true;
      return fresh;
    },
    isWaiting: () =>
      [...services.values()].some(
        (service) => service !== 'recognised' && [...service.scopes.values()].some(({ isReported }) => !isReported),
      ),
    reported: () =>
      inTurns(
        rows(({ isReported: isResultReported }) => isResultReported),
        ({ tenant }) => tenant,
      ),
  };
}

/** Replaces control characters and directional marks, as names go to terminals and pages. */
function plain(text: string): string {
  return text.slice(0, charsMax).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
}

/** The notice in words. */
export function noticeOf(one: Unrecognised): UnrecognisedNotice {
  const missing =
    one.dialects.length === 0
      ? 'No span is marked in a known dialect as an agent, a model call or a tool call, as gen_ai.operation.name, openinference.span.kind or traceloop.span.kind would.'
      : `Its spans are known (${one.dialects.join(', ')}), and none is an agent, a model call or a tool call.`;
  return {
    ...one,
    missing,
    todo: 'docs/tutorial/getting-started.md shows how to instrument an agent, docs/reference/dialects.md lists the known dialects, and tracejury inspect FILE shows what recorded spans carry.',
  };
}

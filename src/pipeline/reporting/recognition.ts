/**
 * From which services spans come of which no run can come: no collector reads an agent, a model call or a tool call in any of them. Told once a
 * service and scope, with what its spans are called and carry.
 */
import { collectorsInForce, type Collector } from '../../../collectors/collector.ts';
import { wire } from '../../model/attributes.ts';
import type { Clock } from '../../model/clock.ts';
import type { Tenant } from '../../model/ids.ts';
import { textAttribute, type LogRecord, type Resource, type Span } from '../../model/span.ts';
import { spanReadingOf, type SpanReading } from '../assembly/span-facts.ts';

export interface Unrecognised {
  readonly tenant: Tenant;
  readonly service: string;
  readonly scope: string;
  /** That were looked at. */
  readonly spans: number;
  readonly names: readonly string[];
  readonly keys: readonly string[];
  /** Collectors that know such spans, and found no agent, model call or tool call in them. */
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
  /** Gives the services that are recognised from now on. */
  spans(tenant: Tenant, spans: readonly Span[]): readonly Recognised[];
  /** Messages may come as log records alone. */
  records(tenant: Tenant, records: readonly LogRecord[]): void;
  /** What has turned out to be unrecognised since this was last asked. */
  due(): readonly Unrecognised[];
  /** All that is unrecognised and has been told. */
  standing(): readonly Unrecognised[];
}

/** An agent's own span ends last, and comes in a later batch than its calls: exporters send every five seconds. */
export const waitMs = 8_000;
/** Services that are told apart; of those beyond it nothing is told. */
const servicesMax = 1_000;
const scopesMax = 20;
/** Of a service that is not recognised; what comes later is not looked at. */
const spansReadMax = 2_000;
const namesMax = 5;
const keysMax = 20;
const charsMax = 100;

const roles: ReadonlySet<string | undefined> = new Set(['agent', 'workflow', 'model', 'tool', 'retriever']);

interface ScopeSeen {
  readonly firstMs: number;
  readonly names: Set<string>;
  readonly keys: Set<string>;
  readonly dialects: Set<string>;
  spans: number;
  isTold: boolean;
}

interface Service {
  readonly tenant: Tenant;
  readonly name: string;
  readonly scopes: Map<string, ScopeSeen>;
  spansRead: number;
}

const noDialects: readonly Collector[] = [];

export interface RecognitionOptions {
  readonly collectors: readonly Collector[];
  /** Collectors of the configuration that is in force; absent: none. */
  readonly dialects?: () => readonly Collector[];
  readonly clock: Clock;
}

export function recognition(options: RecognitionOptions): Recognition {
  const { clock, dialects: own = () => noDialects } = options;
  const collectors = collectorsInForce(own, options.collectors);
  const services = new Map<string, Service | 'recognised'>();
  const none = new Map<never, never>();

  /** A span that no collector can read is counted where its trace is closed; its request has been taken. */
  function told(span: Span): Pick<SpanReading, 'facts' | 'dialects'> {
    try {
      return spanReadingOf({ collectors: collectors(), records: none }, span);
    } catch {
      return { facts: {}, dialects: [] };
    }
  }

  function look(service: Service, span: Span): Recognised | undefined {
    service.spansRead++;
    const { facts, dialects } = told(span);
    if (roles.has(facts.role)) return { service: service.name, scope: plain(span.scope.name), dialects };
    const name = plain(span.scope.name);
    const seen = service.scopes.get(name) ?? {
      firstMs: clock.nowMs(),
      names: new Set(),
      keys: new Set(),
      dialects: new Set(),
      spans: 0,
      isTold: false,
    };
    if (!service.scopes.has(name) && service.scopes.size >= scopesMax) return undefined;
    service.scopes.set(name, seen);
    seen.spans++;
    if (seen.names.size < namesMax) seen.names.add(plain(span.name));
    for (const key of span.attributeKeys().slice(0, keysMax)) if (seen.keys.size < keysMax) seen.keys.add(plain(key));
    for (const id of dialects) seen.dialects.add(id);
    return undefined;
  }

  function rows(wanted: (seen: ScopeSeen) => boolean): readonly Unrecognised[] {
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

  /** Undefined: it is recognised, or one too many. */
  function serviceOf(tenant: Tenant, resource: Resource): { readonly key: string; readonly service: Service } | undefined {
    const name = textAttribute(resource, wire.serviceName) ?? '';
    const key = JSON.stringify([tenant, name]);
    const known = services.get(key);
    if (known === 'recognised' || (known === undefined && services.size >= servicesMax)) return undefined;
    const service = known ?? { tenant, name: plain(name), scopes: new Map(), spansRead: 0 };
    services.set(key, service);
    return service.spansRead < spansReadMax ? { key, service } : undefined;
  }

  return {
    spans(tenant, spans) {
      const found: Recognised[] = [];
      // Spans of one request share their resource: it is asked for once.
      let last: Resource | undefined;
      let at: ReturnType<typeof serviceOf>;
      for (const span of spans) {
        if (span.resource !== last) at = serviceOf(tenant, (last = span.resource));
        if (at === undefined) continue;
        const own = look(at.service, span);
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
        if (!collectors().some(({ logs }) => logs?.events.includes(record.eventName) === true)) continue;
        const at = serviceOf(tenant, record.resource);
        if (at !== undefined) services.set(at.key, 'recognised');
      }
    },
    due() {
      const before = clock.nowMs() - waitMs;
      const fresh = rows((seen) => !seen.isTold && seen.firstMs <= before);
      for (const service of services.values())
        if (service !== 'recognised') for (const seen of service.scopes.values()) if (seen.firstMs <= before) seen.isTold = true;
      return fresh;
    },
    standing: () => rows(({ isTold }) => isTold),
  };
}

/** Foreign names go to a terminal and to a page: without what moves a cursor or turns the direction of text. */
function plain(text: string): string {
  return text.slice(0, charsMax).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '�');
}

/** In words. */
export function noticeOf(one: Unrecognised): UnrecognisedNotice {
  const missing =
    one.dialects.length === 0
      ? 'No span says in a known dialect that it is an agent, a model call or a tool call, as gen_ai.operation.name, openinference.span.kind or traceloop.span.kind would.'
      : `Its spans are known (${one.dialects.join(', ')}), and none is an agent, a model call or a tool call.`;
  return {
    ...one,
    missing,
    todo: 'docs/tutorial/getting-started.md shows how to instrument an agent, docs/reference/dialects.md lists the known dialects, and tracejury inspect FILE shows what recorded spans carry.',
  };
}

/** Reads the settings for spans of the service itself from the configuration, then from the OpenTelemetry variables. */
import type { JsonObject } from '../../model/json.ts';
import { type Finding, objectAt, withMember } from '../diagnostic.ts';
import type { Draft } from '../field.ts';
import type { Written } from '../sections/index.ts';
import type { Environment } from '../document.ts';
import { environmentHeaders, signalEndpoint } from './address.ts';

export interface OwnTraces {
  /** The full URL with the path of the trace signal. */
  readonly url: string;
  /** Values are secret. */
  readonly headers: { readonly [name: string]: string };
  readonly protocol: 'http/protobuf' | 'http/json';
  /** Share of requests and of runs that get spans, 0 to 1. */
  readonly sample: number;
}

export interface OwnTracesRead {
  /** `undefined` when the service sends none. */
  readonly traces?: OwnTraces;
  /** Faults of the file. */
  readonly findings: readonly Finding[];
  /** Faults of the environment, which switch the spans off. */
  readonly warnings: readonly Finding[];
}

const sampleDefault = 0.01;
const none: OwnTracesRead = { findings: [], warnings: [] };

/** `leadsBack`: `true` for a URL of this service. */
export function ownTraces(
  { traces: written = {} }: Draft<Written['telemetry']>,
  env: Environment,
  leadsBack: (url: string) => boolean,
): OwnTracesRead {
  const { exporter, endpoint, headers } = written;
  const isAsked = exporter === 'otlp' || (exporter === undefined && exporterNames(env).includes('otlp'));
  if (!isAsked) return none;
  const url = signalEndpoint('traces', endpoint, env);
  const protocol = given(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? given(env, 'OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/protobuf';
  const sample = written.sample ?? sampleOf(env);
  const faulty = (key: 'endpoint' | 'exporter' | 'sample', problem: string, todo: string): OwnTracesRead => {
    const finding: Finding = {
      path: ['telemetry', 'traces', ...(written[key] === undefined ? [] : [key])],
      at: 'value',
      problem,
      todo,
    };
    return exporter === undefined
      ? { findings: [], warnings: [{ ...finding, problem: `is on by OTEL_TRACES_EXPORTER but stays off: it ${problem}` }] }
      : { findings: [finding], warnings: [] };
  };
  if (url === undefined)
    return faulty('endpoint', 'lacks endpoint', 'Add the base URL of the tracing backend, or set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT.');
  if (leadsBack(url)) return faulty('endpoint', 'leads back to this service', 'Name the tracing backend.');
  if (protocol !== 'http/protobuf' && protocol !== 'http/json')
    return faulty('exporter', `cannot speak ${protocol}`, 'Set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL to http/protobuf or http/json.');
  if (sample === undefined)
    return faulty(
      'sample',
      'has an unknown sampler',
      'Set OTEL_TRACES_SAMPLER to always_on, always_off, traceidratio or one of these with parentbased_ before it, and OTEL_TRACES_SAMPLER_ARG to a share from 0 to 1.',
    );
  return {
    traces: { url, headers: (headers as OwnTraces['headers'] | undefined) ?? environmentHeaders('traces', env), protocol, sample },
    ...none,
  };
}

/** Writes the settings in force into the configuration, whether from the file or the environment. */
export function withOwnTraces(value: JsonObject, traces: OwnTraces | undefined): JsonObject {
  const telemetry = objectAt(value, 'telemetry');
  const written = objectAt(telemetry, 'traces');
  const held: JsonObject =
    traces === undefined ? { ...written, exporter: 'none' } : { ...written, exporter: 'otlp', endpoint: traces.url, sample: traces.sample };
  return withMember(value, 'telemetry', { ...telemetry, traces: held });
}

/** An empty variable counts as unset, as in OpenTelemetry. */
function given(env: Environment, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function exporterNames(env: Environment): readonly string[] {
  return (env['OTEL_TRACES_EXPORTER'] ?? '').split(',').map((name) => name.trim());
}

/** `undefined` when the variables have an unknown sampler or an invalid share. */
function sampleOf(env: Environment): number | undefined {
  const sampler = env['OTEL_TRACES_SAMPLER'] ?? '';
  switch (sampler.replace(/^parentbased_/, '')) {
    case '':
      return sampleDefault;
    case 'always_on':
      return 1;
    case 'always_off':
      return 0;
    case 'traceidratio': {
      const share = Number(given(env, 'OTEL_TRACES_SAMPLER_ARG') ?? '1');
      return share >= 0 && share <= 1 ? share : undefined;
    }
    default:
      return undefined;
  }
}

/** The tracing that a configuration asks for. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import type { Environment } from '../../config/substitution.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { clock, sleep } from '../node-runtime.ts';
import { noSelfTracing, selfTracing, type SelfTracing, type SelfTracingOptions } from './self-tracing.ts';

export interface SelfTracingDeps {
  readonly telemetry: Telemetry;
  readonly onFault: (error: unknown) => void;
  readonly isOpen: SelfTracingOptions['isOpen'];
}

/** Makes the tracing once the parts of the service are there. The SDK is loaded here, and only when it is asked for. */
export async function openSelfTracing({ ownTraces }: Config, env: Environment): Promise<(deps: SelfTracingDeps) => SelfTracing> {
  if (ownTraces === undefined || ownTraces.sample === 0) return () => noSelfTracing;
  const { sdkSink } = await import('./sdk-sink.ts');
  const resource = resourceOf(env);
  return ({ isOpen, ...deps }) =>
    selfTracing({ sink: sdkSink({ traces: ownTraces, resource, clock, sleep, ...deps }), clock, randomBytes, isOpen });
}

/** `OTEL_RESOURCE_ATTRIBUTES`, `key=value,key=value` with percent-encoded values, and `OTEL_SERVICE_NAME`, which wins. */
function resourceOf(env: Environment): { readonly [name: string]: string } {
  const pairs = (env['OTEL_RESOURCE_ATTRIBUTES'] ?? '').split(',').flatMap((pair): readonly (readonly [string, string])[] => {
    const at = pair.indexOf('=');
    return at <= 0 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]];
  });
  const name = env['OTEL_SERVICE_NAME'];
  return { ...Object.fromEntries(pairs), ...(name === undefined || name === '' ? {} : { 'service.name': name }) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

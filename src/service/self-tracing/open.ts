/** Opens the tracing of the service itself by its configuration. */
import { randomBytes } from 'node:crypto';
import type { Config } from '../../config/config.ts';
import { environmentPairs } from '../../config/entries/address.ts';
import type { Environment } from '../../config/document.ts';
import { wire } from '../../model/attributes.ts';
import { clock, sleep } from '../node-runtime.ts';
import { noSelfTracing, selfTracing, type SelfTracing, type SelfTracingOptions } from './self-tracing.ts';
import type { TaskContext } from '../../telemetry/context.ts';

export interface SelfTracingDeps extends Pick<TaskContext, 'telemetry' | 'onFault'> {
  readonly isOpen: SelfTracingOptions['isOpen'];
}

/** Loads the SDK only when the configuration asks for spans of the service. The returned function makes the tracing. */
export async function openSelfTracing({ ownTraces }: Config, env: Environment): Promise<(deps: SelfTracingDeps) => SelfTracing> {
  if (ownTraces === undefined || ownTraces.sample === 0) return () => noSelfTracing;
  const { sdkSink } = await import('./sdk-sink.ts');
  const resource = resourceOf(env);
  return ({ isOpen, ...deps }) =>
    selfTracing({ sink: sdkSink({ traces: ownTraces, resource, clock, sleep, ...deps }), clock, randomBytes, isOpen });
}

/** From `OTEL_RESOURCE_ATTRIBUTES` and `OTEL_SERVICE_NAME`, which wins. */
function resourceOf(env: Environment): { readonly [name: string]: string } {
  const name = env['OTEL_SERVICE_NAME'] ?? '';
  return { ...environmentPairs(env['OTEL_RESOURCE_ATTRIBUTES'] ?? ''), ...(name === '' ? {} : { [wire.serviceName]: name }) };
}

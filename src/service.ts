/** Starts, reloads and stops the core of the service together with the listeners for OTLP and the console. */
import type { Fingerprints } from './config/fingerprint.ts';
import type { JuryError } from './model/errors.ts';
import type { LoadedConfig } from './config/load.ts';
import { serviceCore, type CoreOptions } from './service/core.ts';
import { freeAddresses, receiversOf, renewCertificates, waitingConsole } from './service/listeners.ts';
import { connectionShares, type Descriptors, machineDescriptors } from './service/node-runtime.ts';
import * as build from './service/parts.ts';
import * as buildStore from './service/store-parts.ts';
import { requestReader } from './receivers/read-request.ts';
import type { ReadConfig, ReloadSource } from './service/reloading.ts';
import type { StatusWatch } from './service/service-status.ts';

/** A stop waits this long for judges, and as long again for backends. */
const stopMsDefault = 10_000;

export interface Service {
  /**
   * Resolves with the addresses of the listeners and their shares of the file descriptors. Waits for a database that is away, and refuses requests
   * meanwhile; `signal` ends that wait, and the start rejects with STOPPING.
   */
  start(signal?: AbortSignal): Promise<StartedService>;
  /** Soon reads the configuration again and applies it; a configuration with faults changes nothing. May be called at any time. */
  reload(): void;
  /** Refuses new work, scores open runs, sends scores, then releases. May be called twice. */
  stop(): Promise<void>;
}

interface StartedService extends Receiving {
  readonly console: string;
  readonly connections: ReturnType<typeof build.connectionBounds>;
}

interface Receiving {
  readonly otlpHttp: string;
  readonly otlpGrpc: string;
}

export interface ServiceOptions extends CoreOptions {
  /** The source of the configuration and its fingerprints; without them the service never reloads. */
  readonly source?: ReloadSource;
  readonly fingerprints?: Fingerprints;
  /** The configuration as people read it. */
  readonly read?: ReadConfig;
  /** Milliseconds between two checks of the source. */
  readonly watchMs?: number;
  readonly stopMs?: number;
  readonly descriptors?: Descriptors;
}

export function service(options: ServiceOptions): Service {
  const { config, stopMs = stopMsDefault, descriptors = machineDescriptors() } = options;
  const core = serviceCore({ ...options, fingerprint: () => reloads.fingerprint() });
  const { telemetry, settings, logger, state, buffers, leases } = core.parts;
  const connections = connectionShares(descriptors, config.limits.connections);
  const ingest = build.ingest(core.parts);
  const metricsPush = buildStore.metricsPush(core.parts);
  const receivers = receiversOf(config, leases, connections, {
    telemetry,
    logger,
    buffers,
    ingest,
  });
  const reloads = build.reloads(core.parts, options, putInForce);
  let status: StatusWatch | undefined;
  let consoleServer: Awaited<ReturnType<typeof buildStore.consoleServer>> | undefined;
  let stopped: Promise<void> | undefined;

  const early = waitingConsole(config, () => state.away ?? 'The service is starting.');
  let received: Promise<Receiving> | undefined;
  const receiving = (): Promise<Receiving> => (received ??= receive());

  async function receive(): Promise<Receiving> {
    const { address: otlpHttp } = await receivers.http.listen();
    const { address: otlpGrpc } = await receivers.grpc.listen();
    return { otlpHttp, otlpGrpc };
  }

  async function refuseMeanwhile(cause: JuryError): Promise<void> {
    const isFirst = state.away === undefined;
    state.away = cause.message;
    logger.warn({ todo: cause.todo }, cause.message);
    if (!isFirst) return;
    await early.listen();
    await receiving();
  }

  async function start(signal?: AbortSignal): ReturnType<Service['start']> {
    await freeAddresses(config.listen);
    const stored = await core.start({ onAway: refuseMeanwhile, signal });
    const take = requestReader(ingest);
    await build.leftJournals(core.parts, take);
    const page = { ...core.parts, connections, metricsPush, take, configuration: reloads.status };
    status = buildStore.statusWatch(page, stored);
    consoleServer = await buildStore.consoleServer({ ...page, status: status.status }, stored);
    metricsPush.place(settings.config().exporters);
    await early.stop();
    const opened = await consoleServer.listen();
    const { otlpHttp, otlpGrpc } = await receiving();
    state.otlp = { http: otlpHttp, grpc: otlpGrpc };
    state.away = undefined;
    state.ready = true;
    reloads.begin();
    return {
      otlpHttp,
      otlpGrpc,
      console: opened.address,
      connections: build.connectionBounds(descriptors, connections),
    };
  }

  /** Every step that can fail comes before the first that takes effect. */
  async function putInForce({ config: next }: LoadedConfig): Promise<void> {
    const before = settings.config();
    core.prepare(next)();
    metricsPush.place(next.exporters);
    if (JSON.stringify(before.listen.tls) !== JSON.stringify(next.listen.tls))
      renewCertificates({ ...receivers, console: consoleServer }, config.listen, next.listen);
  }

  async function stop(): Promise<void> {
    state.stopping = true;
    reloads.stop();
    await build.stopAll([receivers.http, receivers.grpc, early]);
    const left = await core.stop(stopMs);
    await Promise.all([core.release(stopMs), metricsPush.stop(stopMs), status?.stop()]);
    await consoleServer?.stop();
    // A failed start has its own message.
    if (state.otlp !== undefined) logger.info(left, 'stopped');
  }

  return { start, reload: reloads.request, stop: () => (stopped ??= stop()) };
}

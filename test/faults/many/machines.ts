/** A broker, a database and replicas: real processes on this machine. A trial has a separate topic and database. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { kafkaBroker, startBroker, type Broker } from '../../builders/kafka.ts';
import { postgresServer, type PostgresServer } from '../../builders/postgres-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually } from '../../service/running.ts';

export interface Replica {
  /** The one that runs, or the last one that ran. */
  readonly process: () => ServiceProcess;
  readonly end: (signal: 'SIGKILL' | 'SIGTERM') => Promise<void>;
  /** Starts it again, and resolves when it is ready. */
  readonly start: () => Promise<void>;
}

export interface ManyMachines {
  readonly broker: Broker;
  /** Where the broker has its records, if the disk is a small one. */
  readonly disk: string | undefined;
  readonly database: PostgresServer;
}

export interface TrialMachines extends ManyMachines {
  readonly replica: () => Promise<Replica>;
  readonly remove: () => Promise<void>;
}

const partitions = 6;
const probeBytes = 1024 * 1024;

/** `yaml` is added to the configuration of each replica. */
export async function machines(yaml: string, { diskBytes }: { readonly diskBytes?: number | undefined }): Promise<TrialMachines> {
  const disk = diskBytes === undefined ? undefined : smallDisk(diskBytes);
  const broker = await (disk === undefined ? kafkaBroker() : startBroker({ data: disk }));
  const database = await postgresServer();
  const [topic, name] = [await broker.topic(partitions), await database.database()];
  const folders: ServiceFolder[] = [];
  return {
    broker,
    disk,
    database,
    async replica() {
      const folder = serviceFolder({ store: database.url(name), journal: `kafka://${broker.address}/${topic}?group=${topic}` });
      folders.push(folder);
      folder.configure(yaml);
      let running = await folder.start();
      await ready(running);
      return {
        process: () => running,
        end: async (signal) => void (await running.end(signal)),
        async start() {
          running = await folder.start();
          await ready(running);
        },
      };
    },
    async remove() {
      await Promise.all(folders.map((folder) => folder.remove()));
      await database.run(`drop database if exists ${name} with (force)`);
      if (disk === undefined) return;
      await broker.stop('SIGKILL');
      removeDisk(disk);
    },
  };
}

async function ready({ console: page }: ServiceProcess): Promise<void> {
  const isReady = async (): Promise<true | undefined> => ((await fetch(`${page}/readyz`)).status === 200 ? true : undefined);
  await eventually(() => isReady().catch(() => undefined), 'a replica that is ready', { everyMs: 50, looksMax: 2_400 });
}

/** Why this machine has no small disk for a broker; undefined: it has one. */
export function whyNoSmallDisk(): string | undefined {
  try {
    removeDisk(smallDisk(probeBytes));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** In memory, so that its size is exact. */
function smallDisk(bytes: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-disk-'));
  const { status, stderr, error } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder], { encoding: 'utf8' });
  if (status === 0) return folder;
  rmSync(folder, { recursive: true });
  throw new Error(`A small disk needs the right to mount one: run this as root. ${error?.message ?? stderr}`.trim());
}

function removeDisk(folder: string): void {
  spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
}

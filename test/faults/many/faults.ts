/** Every fault of several machines. */
import { statfsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, sample } from '../../service/running.ts';
import type { ManyFault, Scene } from './fault.ts';
import type { Replica } from './machines.ts';

/** The group gives the partitions of a silent replica to others after 10 s. */
const sessionMs = 10_000;
const megabyte = 1024 * 1024;

const kill: ManyFault = {
  name: 'kill',
  summary: 'SIGKILL of a replica at a random moment; it starts again within 15 s.',
  inHand: 'may come again',
  async suffer({ chance, replicas, isFull, acknowledged }) {
    const replica = chance.pick(replicas);
    await replica.end('SIGKILL');
    await wait(chance.below(isFull ? 15_000 : 2_000));
    await replica.start();
    await acknowledged(200);
  },
};

const standStill: ManyFault = {
  name: 'stand still',
  summary: 'SIGSTOP of a replica for 60 s, which is longer than its session and its leases.',
  inHand: 'may come again',
  async suffer({ chance, replicas, isFull, acknowledged }) {
    const { pid } = chance.pick(replicas).process();
    process.kill(pid, 'SIGSTOP');
    await wait(isFull ? 60_000 : 1.5 * sessionMs);
    process.kill(pid, 'SIGCONT');
    await acknowledged(200);
  },
};

const brokerRestart: ManyFault = {
  name: 'broker restart',
  summary: 'SIGKILL of the broker, or SIGTERM in every second trial, and a start some seconds later.',
  inHand: 'once',
  async suffer({ chance, broker, refused, acknowledged }) {
    await broker.stop(chance.pick(['SIGKILL', 'SIGTERM']));
    await refused();
    await wait(chance.below(5_000));
    await broker.start();
    await acknowledged(200);
  },
};

const databaseRestart: ManyFault = {
  name: 'database restart',
  summary: 'an immediate restart of PostgreSQL, without a checkpoint, twice.',
  inHand: 'may come again',
  async suffer({ chance, database, acknowledged }) {
    for (let restarts = 0; restarts < 2; restarts++) {
      await database.crash();
      await acknowledged(20 + chance.below(200));
    }
  },
};

const rollingRestart: ManyFault = {
  name: 'rolling restart',
  summary: 'SIGTERM of each replica in turn, and a start over the same configuration.',
  inHand: 'once',
  async suffer({ chance, replicas, acknowledged }) {
    for (const replica of chance.shuffled(replicas)) {
      await replica.end('SIGTERM');
      await replica.start();
      await acknowledged(chance.below(60));
    }
  },
};

const comeAndGo: ManyFault = {
  name: 'come and go',
  summary: 'two more replicas, then SIGTERM of two of the first ones.',
  inHand: 'once',
  async suffer({ chance, replicas, add, remove, acknowledged }) {
    for (let added = 0; added < 2; added++) {
      await add();
      await acknowledged(chance.below(100));
    }
    for (const replica of chance.shuffled(replicas).slice(1)) {
      await stopped(replica, { remove });
      await acknowledged(chance.below(100));
    }
  },
};

async function stopped(replica: Replica, { remove }: Pick<Scene, 'remove'>): Promise<void> {
  remove(replica);
  await replica.end('SIGTERM');
}

const diskFull: ManyFault = {
  name: 'disk full',
  summary: 'the disk of the broker fills up, so the broker ends; it starts again when there is room.',
  inHand: 'once',
  diskBytes: 64 * megabyte,
  async suffer({ chance, broker, disk = '', refused, acknowledged }) {
    const { bavail, bsize } = statfsSync(disk);
    const ballast = join(disk, 'ballast');
    writeFileSync(ballast, Buffer.alloc(bavail * bsize - chance.below(megabyte / 2)));
    await refused();
    await wait(chance.below(5_000));
    rmSync(ballast);
    await broker.stop('SIGKILL');
    await broker.start();
    await acknowledged(200);
  },
};

const readOnly: ManyFault = {
  name: 'read-only database',
  summary: 'PostgreSQL refuses writes for 30 s.',
  inHand: 'may come again',
  async suffer({ replicas, database, isFull, acknowledged }) {
    const refuse = async (how: 'on' | 'off'): Promise<void> => {
      await database.run(`alter system set default_transaction_read_only = ${how}`);
      await database.run('select pg_reload_conf()');
    };
    await refuse('on');
    try {
      await wait(isFull ? 30_000 : 5_000);
      await eventually(() => hasRetried(replicas), 'a write that is refused', { everyMs: 100, looksMax: 600 });
    } finally {
      await refuse('off');
    }
    await acknowledged(200);
  },
};

async function hasRetried(replicas: readonly Replica[]): Promise<true | undefined> {
  const pages = await Promise.all(replicas.map((replica) => replica.process().metrics()));
  return pages.some((page) => (sample(page, 'tracejury_store_items_total', { tracejury_outcome: 'retried' }) ?? 0) > 0) ? true : undefined;
}

export const manyFaults: readonly ManyFault[] = [
  kill,
  standStill,
  brokerRestart,
  databaseRestart,
  rollingRestart,
  comeAndGo,
  diskFull,
  readOnly,
];

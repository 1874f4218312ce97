/** The thread of a store, from the side of those who ask it. */
import { getCompileCacheDir } from 'node:module';
import { dirname, extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import { diskFullText } from '../../model/errors.ts';
import { openedId, type Answer, type Ask, type Database } from './answers.ts';
import type { Answered, Question, SqlThread } from './connection.ts';

/** Given to the thread when it starts. */
export type ThreadData = { readonly engine: 'sqlite'; readonly file: string } | { readonly engine: 'postgres'; readonly url: string };

export interface ThreadOptions {
  /** Default: true. Without a thread, questions are answered between two turns of the caller's: for tests under a manual clock. */
  readonly inThread?: boolean;
  /** A thread was started. */
  readonly onThread?: (thread: Worker) => void;
  /** The database refused because the disk is full. */
  readonly onDiskFull?: () => void;
}

/** The thread that the options ask for. `open` opens the database where there is none. Rejects when the database cannot be opened. */
export async function threadOf(data: ThreadData, open: () => Database | Promise<Database>, options: ThreadOptions): Promise<SqlThread> {
  return options.inThread === false ? threadHere(await open()) : await storeThread(data, options);
}

function fault(message: string, code: string | undefined): Error {
  return Object.assign(new Error(message), code === undefined ? {} : { code });
}

/** A database that answers between two turns of the caller's. */
function threadHere({ answer }: Database): SqlThread {
  let isOpen = true;
  const ask: SqlThread['ask'] = async (question) => {
    if (!isOpen) throw new Error('the store is closed');
    const given = await answer({ ...question, id: openedId });
    if (given.kind === 'failed') throw fault(given.message, given.code);
    return given;
  };
  return {
    ask,
    async stop() {
      if (!isOpen) return;
      await ask({ kind: 'close' });
      isOpen = false;
    },
  };
}

/** The folder whose disk may be full; `undefined` where that is another machine's. */
function folderOf(data: ThreadData): string | undefined {
  return data.engine === 'sqlite' ? dirname(data.file) : undefined;
}

interface Waiting {
  readonly resolve: (answer: Answered) => void;
  readonly reject: (error: Error) => void;
}

/** Questions that wait for their answers. */
interface Questions {
  /** Rejects with the database's error. */
  ask(ask: Ask, send: (ask: Ask) => void): Promise<Answered>;
  answered(answer: Answer): void;
  /** No answer will come. */
  lost(error: Error): void;
  waiting(): number;
}

function questions({ onDiskFull }: ThreadOptions, folder: string | undefined): Questions {
  const waiting = new Map<number, Waiting>();

  function failure({ message, isDiskFull, code }: Extract<Answer, { readonly kind: 'failed' }>): Error {
    if (!isDiskFull || folder === undefined) return fault(message, code);
    onDiskFull?.();
    return Object.assign(new Error(diskFullText(folder)), { code: 'ENOSPC' });
  }

  return {
    ask: (ask, send) =>
      new Promise((resolve, reject) => {
        waiting.set(ask.id, { resolve, reject });
        send(ask);
      }),
    answered(answer) {
      const one = waiting.get(answer.id);
      waiting.delete(answer.id);
      if (answer.kind === 'failed') one?.reject(failure(answer));
      else one?.resolve(answer);
    },
    lost(error) {
      for (const [id, one] of waiting) {
        waiting.delete(id);
        one.reject(error);
      }
    },
    waiting: () => waiting.size,
  };
}

const threadEnded = 'the thread of the store has ended';

/** Rejects when the database cannot be opened. A thread that dies has its questions rejected, and the next one starts it anew. */
async function storeThread(data: ThreadData, options: ThreadOptions): Promise<SqlThread> {
  const asked = questions(options, folderOf(data));
  let worker: Promise<Worker> | undefined;
  let lastId = openedId;
  let stopped = false;

  function askThread(of: Worker, ask: Ask): Promise<Answered> {
    // It keeps the process only while it has something to do.
    of.ref();
    return asked.ask(ask, () => (ask.id === openedId ? undefined : of.postMessage(ask)));
  }

  function started(): Promise<Worker> {
    // The two files are side by side, both as sources and as built files.
    const cache = getCompileCacheDir();
    const made = new Worker(new URL(`./thread${extname(import.meta.url)}`, import.meta.url), {
      workerData: data,
      name: 'tracejury-store',
      // Node hands a thread this variable, and not a cache that the program turned on. The cache keeps each version in a folder below its own.
      env: cache === undefined ? process.env : { ...process.env, NODE_COMPILE_CACHE: dirname(cache) },
    });
    options.onThread?.(made);
    made.on('message', (answer: Answer) => {
      asked.answered(answer);
      if (asked.waiting() === 0) made.unref();
    });
    const gone = (error = new Error(threadEnded)): void => {
      worker = undefined;
      asked.lost(error);
    };
    made.on('error', gone);
    made.on('exit', () => gone());
    return askThread(made, { id: openedId, kind: 'close' }).then(() => made);
  }

  async function running(): Promise<Worker> {
    if (stopped) throw new Error('the store is closed');
    // A file is opened again; what lay in memory went with its thread.
    if (worker === undefined && data.engine === 'sqlite' && data.file === ':memory:')
      throw new Error(`${threadEnded}, and what it held in memory is gone`);
    return await (worker ??= started());
  }

  const ask = async (question: Question): Promise<Answered> => await askThread(await running(), { ...question, id: ++lastId });

  worker = started();
  await worker.catch(async (error: unknown) => {
    stopped = true;
    throw error;
  });
  return {
    ask,
    async stop() {
      if (stopped) return;
      await ask({ kind: 'close' }).catch(() => undefined);
      stopped = true;
      await (await worker?.catch(() => undefined))?.terminate();
    },
  };
}

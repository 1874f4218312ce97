/** A store in memory and without a thread, so that it keeps to a manual clock. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { ReplayableStore } from '../../src/model/store/replay-store.ts';

let image: Promise<Uint8Array> | undefined;

/** Stopped after the test. */
export async function memoryStore(): Promise<ReplayableStore> {
  const store = await openedInMemory();
  onTestFinished(() => store.stop());
  return store;
}

/** The caller stops it. Each begins with a copy of the first one's tables, for migrations take many times as long. */
export async function openedInMemory(): Promise<ReplayableStore> {
  image ??= migratedImage();
  return await sqliteStore(':memory:', { inThread: false, image: await image });
}

async function migratedImage(): Promise<Uint8Array> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-image-'));
  try {
    const file = join(folder, 'empty.db');
    await (await sqliteStore(file, { inThread: false })).stop();
    const database = new DatabaseSync(file);
    // A database in memory has no write-ahead log.
    database.exec('pragma journal_mode = delete');
    const bytes = database.serialize();
    database.close();
    return bytes;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Layers under the journal that behave as bad disks do, over the real files of this machine. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FileLayer, LayerFile } from '../../src/journals/disk/file-system.ts';
import { nodeFiles } from '../../src/journals/disk/node-files.ts';
import { seeded, type Chance } from '../builders/seeded.ts';
import type { DiskFault } from './world.ts';

export interface Disk {
  readonly files: FileLayer;
  /** The service is up. */
  readonly up: () => void;
}

export function diskOf(fault: DiskFault | undefined): Disk {
  if (fault?.kind === 'failing') return failing(fault);
  return { files: layerOf(fault), up: () => undefined };
}

function layerOf(fault: Exclude<DiskFault, { kind: 'failing' }> | undefined): FileLayer {
  switch (fault?.kind) {
    case undefined:
      return nodeFiles;
    case 'forgetful':
      return forgetful(seeded(fault.seed), { syncs: true });
    case 'lying':
      return forgetful(seeded(fault.seed), { syncs: false });
    case 'slow':
      return slow(fault.syncMs);
  }
}

/** The largest unit that a disk writes as a whole; a long write has no more pieces than this. */
const pieceBytesMin = 64;
const piecesMax = 64;

interface Write {
  readonly offset: number;
  readonly bytes: Buffer;
}

/**
 * Bytes stay in this process until they are synced, so that SIGKILL takes them away as a loss of power does. For each write a share of its pieces
 * goes to the file at once: which ones, and in which order, is open.
 */
function forgetful(chance: Chance, { syncs }: { readonly syncs: boolean }): FileLayer {
  return {
    ...nodeFiles,
    async open(path, mode) {
      const file = await nodeFiles.open(path, mode);
      const isThrough = mode === 'through';
      let held: Write[] = [];
      let end = await file.size();
      const layered: LayerFile = {
        async write(buffers, offset) {
          const bytes = Buffer.concat(buffers);
          held.push({ offset, bytes });
          end = Math.max(end, offset + bytes.length);
          const share = chance.pick([0, 0, 0.2, 0.8]);
          const pieceBytes = Math.max(pieceBytesMin, Math.ceil(bytes.length / piecesMax));
          const pieces = Array.from({ length: share === 0 ? 0 : Math.ceil(bytes.length / pieceBytes) }, (_, at) => at * pieceBytes).filter(
            () => chance.share() < share,
          );
          for (const at of chance.shuffled(pieces)) await file.write([bytes.subarray(at, at + pieceBytes)], offset + at);
          if (isThrough) await layered.datasync();
          return bytes.length;
        },
        async read(buffer, offset) {
          const read = await file.read(buffer, offset);
          for (const { offset: from, bytes } of held)
            bytes.copy(
              buffer,
              Math.max(0, from - offset),
              Math.max(0, offset - from),
              Math.max(0, offset - from, Math.min(bytes.length, offset + buffer.length - from)),
            );
          return Math.max(read, Math.min(buffer.length, end - offset));
        },
        async datasync() {
          if (!syncs) return;
          const writes = held;
          for (const { offset, bytes } of writes) await file.write([bytes], offset);
          await file.datasync();
          held = held.filter((write) => !writes.includes(write));
        },
        size: async () => end,
        close: () => file.close(),
      };
      return layered;
    },
  };
}

function failing({ since, from, times, how }: Extract<DiskFault, { kind: 'failing' }>): Disk {
  let count = 0;
  let isCounting = since === 'start';
  const isDue = (): boolean => {
    if (!isCounting) return false;
    count++;
    return count >= from && count < from + times;
  };
  const act = async <Result>(action: () => Promise<Result>): Promise<Result> => {
    if (!isDue() || how === 'short') return action();
    if (how === 'late') await action();
    throw Object.assign(new Error(`${how}: the disk of this trial failed`), { code: how === 'late' ? 'EIO' : how });
  };
  const fileOf = (file: LayerFile): LayerFile => ({
    async write(buffers, offset) {
      if (how !== 'short') return act(() => file.write(buffers, offset));
      const bytes = Buffer.concat(buffers);
      return file.write([isDue() ? bytes.subarray(0, Math.ceil(bytes.length / 2)) : bytes], offset);
    },
    read: (buffer, offset) => act(() => file.read(buffer, offset)),
    datasync: () => act(() => file.datasync()),
    size: () => act(() => file.size()),
    close: () => act(() => file.close()),
  });
  const files: FileLayer = {
    makeFolder: (path) => act(() => nodeFiles.makeFolder(path)),
    list: (folder) => act(() => nodeFiles.list(folder)),
    open: (path, mode) => act(async () => fileOf(await nodeFiles.open(path, mode))),
    rename: (one, other) => act(() => nodeFiles.rename(one, other)),
    remove: (path) => act(() => nodeFiles.remove(path)),
    syncFolder: (path) => act(() => nodeFiles.syncFolder(path)),
    lock: (folder) => act(() => nodeFiles.lock(folder)),
  };
  return { files, up: () => void (isCounting = true) };
}

function slow(syncMs: number): FileLayer {
  return {
    ...nodeFiles,
    async open(path, mode) {
      const file = await nodeFiles.open(path, mode);
      return {
        ...file,
        async write(buffers, offset) {
          if (mode === 'through') await wait(syncMs);
          return file.write(buffers, offset);
        },
        async datasync() {
          await wait(syncMs);
          await file.datasync();
        },
      };
    },
  };
}

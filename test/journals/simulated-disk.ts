/**
 * A disk in memory that forgets: what was not synced may be gone after a crash, byte by byte and name by name, in any order. Each operation
 * can be made to fail.
 */
import { posix } from 'node:path';
import type { FileLayer, LayerFile } from '../../src/journals/disk/file-system.ts';
import { JuryError } from '../../src/model/errors.ts';
import type { Chance } from '../builders/seeded.ts';

/** `error`: nothing happens. `short`: half of the bytes are written. `late`: it happens, and an error is reported. `off`: the power is gone from here on. */
export type Fault = { readonly kind: 'error' | 'late'; readonly code: string } | { readonly kind: 'short' } | { readonly kind: 'off' };

/** Told before each operation, with how many there were before it. */
export type Faults = (operation: string, number: number) => Fault | undefined;

export interface SimulatedDisk {
  readonly files: FileLayer;
  /** Operations so far. */
  operations(): number;
  /** The files that are there when the machine comes up again. Nothing of this disk can be used afterwards. */
  afterPowerLoss(chance: Chance, faults?: Faults): SimulatedDisk;
  /** The process ended and the machine went on: everything that was written is there. */
  afterDeath(faults?: Faults): SimulatedDisk;
  /** Changes a file behind the journal's back. */
  damage(path: string, change: (bytes: Buffer) => Buffer): void;
  paths(): readonly string[];
}

interface Write {
  readonly offset: number;
  readonly bytes: Buffer;
}

interface Inode {
  data: Buffer;
  synced: Buffer;
  /** Written and not synced. */
  pending: Write[];
  /** Their sync failed: they may have come to the disk, and no later sync brings them there. */
  doubtful: Write[];
}

type NameChange = {
  readonly folder: string;
  readonly set: readonly (readonly [path: string, inode: Inode])[];
  readonly gone: readonly string[];
};

const root = '/';
/** The largest unit that a disk writes as a whole. */
const pieceBytes = 16;

export function simulatedDisk(faults: Faults = () => undefined): SimulatedDisk {
  return diskOf(platter(new Map(), new Set([root])), faults);
}

interface Platter {
  readonly names: Map<string, Inode>;
  readonly folders: Set<string>;
  readonly synced: { readonly names: Map<string, Inode>; readonly folders: Set<string> };
  /** Not synced, in order. */
  changes: readonly NameChange[];
  newFolders: readonly string[];
}

function platter(names: ReadonlyMap<string, Inode>, folders: ReadonlySet<string>): Platter {
  return {
    names: new Map(names),
    folders: new Set(folders),
    synced: { names: new Map(names), folders: new Set(folders) },
    changes: [],
    newFolders: [],
  };
}

function diskOf(state: Platter, faults: Faults): SimulatedDisk {
  const { names, folders, synced } = state;
  const locks = new Set<string>();
  let count = 0;
  /** No operation does anything any more. */
  let off = false;

  function faultOf(operation: string): Fault | undefined {
    const fault = off ? { kind: 'off' as const } : faults(operation, count);
    count++;
    if (fault?.kind === 'off') off = true;
    return fault;
  }

  async function act<Result>(operation: string, action: () => Result, onError?: () => void): Promise<Result> {
    // As on a real machine, nothing is done before the caller goes on.
    await Promise.resolve();
    const fault = faultOf(operation);
    if (fault?.kind === 'off') throw broken('EPOWER');
    if (fault?.kind === 'error') {
      onError?.();
      throw broken(fault.code);
    }
    const result = action();
    if (fault?.kind === 'late') throw broken(fault.code);
    return result;
  }

  function rename(change: NameChange): void {
    for (const path of change.gone) names.delete(path);
    for (const [path, inode] of change.set) names.set(path, inode);
    state.changes = [...state.changes, change];
  }

  function known(path: string): Inode {
    const inode = names.get(path);
    if (inode === undefined) throw broken('ENOENT');
    return inode;
  }

  function fileOf(inode: Inode, isThrough: boolean): LayerFile {
    const file: LayerFile = {
      async write(buffers, offset) {
        await Promise.resolve();
        const dead = off;
        const fault = faultOf('write');
        if (dead) throw broken('EPOWER');
        if (fault?.kind === 'error') throw broken(fault.code);
        const whole = Buffer.concat(buffers);
        const bytes = fault?.kind === 'short' || fault?.kind === 'off' ? whole.subarray(0, Math.ceil(whole.length / 2)) : whole;
        inode.pending.push({ offset, bytes });
        inode.data = written(inode.data, { offset, bytes });
        if (fault?.kind === 'off') throw broken('EPOWER');
        if (fault?.kind === 'late') throw broken(fault.code);
        if (isThrough) await file.datasync();
        return bytes.length;
      },
      read: (buffer, offset) => act('read', () => inode.data.copy(buffer, 0, Math.min(offset, inode.data.length))),
      datasync: () =>
        act(
          'datasync',
          () => {
            inode.synced = inode.pending.reduce(written, inode.synced);
            // Overwritten bytes do not come back.
            inode.doubtful = inode.pending.reduce(without, inode.doubtful);
            inode.pending = [];
          },
          () => {
            inode.doubtful.push(...inode.pending);
            inode.pending = [];
          },
        ),
      size: () => act('size', () => inode.data.length),
      close: () => act('close', () => undefined),
    };
    return file;
  }

  const files: FileLayer = {
    makeFolder: (path) =>
      act('makeFolder', () => {
        if (!folders.has(path)) state.newFolders = [...state.newFolders, path];
        folders.add(path);
      }),
    list: (folder) =>
      act('list', () => [...names.keys()].filter((path) => posix.dirname(path) === folder).map((path) => posix.basename(path))),
    async open(path, mode) {
      return fileOf(
        await act('open', () => {
          if (mode !== 'new') return known(path);
          const inode: Inode = { data: Buffer.alloc(0), synced: Buffer.alloc(0), pending: [], doubtful: [] };
          rename({ folder: posix.dirname(path), set: [[path, inode]], gone: [] });
          return inode;
        }),
        mode === 'through',
      );
    },
    rename: (from, to) => act('rename', () => rename({ folder: posix.dirname(to), set: [[to, known(from)]], gone: [from] })),
    remove: (path) =>
      act('remove', () => {
        known(path);
        rename({ folder: posix.dirname(path), set: [], gone: [path] });
      }),
    syncFolder: (folder) =>
      act('syncFolder', () => {
        for (const change of state.changes) if (change.folder === folder) apply(synced.names, change);
        state.changes = state.changes.filter((change) => change.folder !== folder);
        for (const path of state.newFolders) if (posix.dirname(path) === folder) synced.folders.add(path);
        state.newFolders = state.newFolders.filter((path) => posix.dirname(path) !== folder);
      }),
    lock: (folder) =>
      act('lock', () => {
        if (locks.has(folder)) throw new JuryError('JOURNAL_LOCKED', folder);
        locks.add(folder);
        return { release: () => act('unlock', () => void locks.delete(folder)) };
      }),
  };

  return {
    files,
    operations: () => count,
    afterPowerLoss(chance, next = () => undefined) {
      off = true;
      const left = new Map(synced.names);
      for (const change of chance.shuffled(state.changes)) if (chance.share() < 0.5) apply(left, change);
      const standing = new Set([...synced.folders, ...state.newFolders.filter(() => chance.share() < 0.5)]);
      const reachable = [...left].filter(([path]) => foldersOf(path).every((folder) => standing.has(folder)));
      return diskOf(platter(new Map(reachable.map(([path, inode]) => [path, survivor(inode, chance)])), standing), next);
    },
    afterDeath(next = () => undefined) {
      off = true;
      return diskOf(state, next);
    },
    damage(path, change) {
      known(path).data = change(known(path).data);
    },
    paths: () => [...names.keys()],
  };
}

function apply(names: Map<string, Inode>, { set, gone }: NameChange): void {
  for (const path of gone) names.delete(path);
  for (const [path, inode] of set) names.set(path, inode);
}

function foldersOf(path: string): readonly string[] {
  const folder = posix.dirname(path);
  return folder === root ? [root] : [folder, ...foldersOf(folder)];
}

/** Each small piece of what was not synced is there or not; which of two writes to one place wins is open. */
function survivor({ synced, pending, doubtful }: Inode, chance: Chance): Inode {
  const share = chance.pick([0, 0.1, 0.5, 0.9, 1]);
  const pieces = chance.shuffled([...doubtful, ...pending]).flatMap(({ offset, bytes }) => {
    const count = Math.ceil(bytes.length / pieceBytes);
    return Array.from({ length: count }, (_, at) => ({
      offset: offset + at * pieceBytes,
      bytes: bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
    }));
  });
  const data = pieces.filter(() => chance.share() < share).reduce(written, Buffer.from(synced));
  return { data, synced: Buffer.from(data), pending: [], doubtful: [] };
}

/** In place where there is room: most writes do not make a file longer. */
function written(data: Buffer, { offset, bytes }: Write): Buffer {
  const end = offset + bytes.length;
  const long = end <= data.length ? data : Buffer.concat([data, Buffer.alloc(end - data.length)]);
  bytes.copy(long, offset);
  return long;
}

/** The rest of the writes that this one went over. */
function without(writes: Write[], over: Write): Write[] {
  const end = over.offset + over.bytes.length;
  return writes.flatMap(({ offset, bytes }) => {
    const before = { offset, bytes: bytes.subarray(0, Math.max(0, over.offset - offset)) };
    const after = { offset: Math.max(offset, end), bytes: bytes.subarray(Math.max(0, end - offset)) };
    return [before, after].filter((write) => write.bytes.length > 0);
  });
}

function broken(code: string): Error {
  return Object.assign(new Error(`${code}: the simulated disk failed`), { code });
}

import { failingDisk } from './failing-disk.ts';

export const diskFull = failingDisk('disk full', 'Ten operations on the journal’s files, from the n-th on, are answered ENOSPC.', {
  how: 'ENOSPC',
  times: 10,
});

import { failingDisk } from './failing-disk.ts';

export const diskFails = failingDisk('disk fails', 'The n-th operation on the journal’s files is answered EIO.', { how: 'EIO', times: 1 });

import { failingDisk } from './failing-disk.ts';

export const shortWrite = failingDisk(
  'short writes',
  'Writes among five operations of the journal, from the n-th on, write half of their bytes.',
  { how: 'short', times: 5 },
);

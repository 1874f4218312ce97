import { expect, test } from 'vitest';
import { replicaNames } from '../../../src/cli/commands/kafka.ts';

test('kafka status: a replica has the name of its host, and the begin of its id where several share the host', () => {
  const replicas = [
    { id: 'fe4722d938596cf3', host: 'a' },
    { id: '7cc26b3bb6fa2102', host: 'b' },
    { id: 'c9b6b89f495eff02', host: 'b' },
  ];
  expect([...replicaNames(replicas).values()]).toEqual(['a', 'b 7cc26b3b', 'b c9b6b89f']);
});

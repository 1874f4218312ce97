import { journals } from '../../src/journals/index.ts';
import { memoryShelf } from '../../src/journals/memory.ts';
import { journalContract } from './contract.ts';

journalContract('memory', async () => {
  const shelf = memoryShelf();
  return { open: (settings, parts) => journals.memory(settings, parts, shelf) };
});

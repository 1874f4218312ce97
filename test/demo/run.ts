/** `node test/demo/run.ts` writes `examples/demo-day.jsonl` after a change of the scenarios. */
import { writeFileSync } from 'node:fs';
import { recordedDay, recordedFile } from './recorded-day.ts';

writeFileSync(recordedFile, recordedDay());

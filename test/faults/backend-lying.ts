import { failingBackend } from './failing-backend.ts';

export const backendLying = failingBackend(
  'backend lies',
  'The backend takes the scores, and then refuses, answers nonsense or cuts the connection.',
  'lying',
);

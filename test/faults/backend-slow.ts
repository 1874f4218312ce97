import { failingBackend } from './failing-backend.ts';

export const backendSlow = failingBackend('backend slow', 'Every answer of the backend takes 300 ms.', 'slow');

import { failingBackend } from './failing-backend.ts';

export const backendDown = failingBackend('backend down', 'Every connection to the backend is cut.', 'down');

import { failingBackend } from './failing-backend.ts';

export const backendBusy = failingBackend('backend busy', 'Every request to the backend is answered 503.', 'busy');

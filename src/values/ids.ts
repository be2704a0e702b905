const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** True for a UUID in its text form (RFC 9562 section 4), in letters of any case. */
export const isUuid = (text: string): boolean => UUID.test(text);

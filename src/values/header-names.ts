/** True for the name of a header in lower case (RFC 9110 section 5.6.2). */
export const isHeaderName = (text: string): boolean => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(text);

/** True for the name of a header, in lower case, by which a proxy tells whose request it passes on. */
export const isForwarded = (name: string): boolean => /^(x-)?forwarded(-|\*|$)/.test(name);

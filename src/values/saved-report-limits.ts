/** The most characters of a saved report's title. */
export const MAX_TITLE_LENGTH = 200;
/** The most characters of a saved report's name, which is a part of its address. */
export const MAX_NAME_LENGTH = 80;
/** The mails of a schedule that its log shows on the page. */
export const MAX_SHOWN_MAILS = 200;

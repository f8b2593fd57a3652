// The fixed parts of a trace's page: what stands before and after the data. Kept apart from the code that
// writes the data (trace_html.cpp), because it is HTML, CSS and JavaScript. The page loads nothing, and its
// script puts texts of scripts into the page as text, never as markup.
#pragma once

namespace posset::api {

extern const char* const kTracePageHead;
extern const char* const kTracePageTail;

}  // namespace posset::api

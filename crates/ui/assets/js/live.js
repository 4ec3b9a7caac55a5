// Live parts: one stream for the page, closed while nobody looks at it.
{
}

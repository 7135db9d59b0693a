function headers(value, least)
%HEADERS  Refuse what is no matrix of bytes, a header a column.
%   wiregauge.internal.headers(value, least) ends in wiregauge:argument unless value is uint8 with so many rows or more.

if isa(value, 'uint8') && ndims(value) == 2 && size(value, 1) >= least %#ok<ISMAT>
    return
end
rows = '';
if least > 0
    rows = sprintf(' with %d rows or more', least);
end
wiregauge.internal.fail('wiregauge:argument', 'the headers must be a uint8 matrix%s, a header in each column, not %s', rows, ...
    wiregauge.internal.described(value));
end

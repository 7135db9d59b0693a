function connection(value)
%CONNECTION  Refuse what is no tcpclient or serialport, whose classes MATLAB and Octave name differently.
%   wiregauge.internal.connection(connection) ends in wiregauge:argument for numbers, text, cells and structs.

if isnumeric(value) || islogical(value) || ischar(value) || iscell(value) || isstruct(value) || ...
        isa(value, 'function_handle') || isa(value, 'string')
    wiregauge.internal.fail('wiregauge:argument', 'the connection must be one of wiregauge.pure.connect, not %s', ...
        wiregauge.internal.described(value));
end
end

function number = opened(address, options)
%OPENED  Open a device through the MEX file, and tell how to build it if it is not there.
%   number = wiregauge.internal.opened(address, options) is wiregauge_mex('open', address, options).

if exist('wiregauge_mex', 'file') ~= 3
    here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
    error('wiregauge:missing', ['the MEX file is not built: run build in %s (docs/matlab.md). Measuring (wiregauge.exchange) and ' ...
        'wiregauge.pure work without it.'], here);
end
number = wiregauge_mex('open', address, options);
end

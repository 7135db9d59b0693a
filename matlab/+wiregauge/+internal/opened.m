function number = opened(address, options)
%OPENED  Open a device through the MEX file, or report how to build it.
%   number = wiregauge.internal.opened(address, options) is wiregauge_mex('open', address, options).

if exist('wiregauge_mex', 'file') ~= 3
    here = fileparts(fileparts(fileparts(mfilename('fullpath'))));
    wiregauge.internal.fail('wiregauge:missing', ...
        ['the MEX file is not built: run build in %s (docs/matlab.md). Measuring (wiregauge.exchange) and ' ...
        'wiregauge.pure work without it.'], here);
end
try
    number = wiregauge_mex('open', address, options);
catch problem
    wiregauge.internal.fail(problem);
end
end
